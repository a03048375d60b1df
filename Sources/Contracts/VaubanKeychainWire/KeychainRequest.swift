// The door of keychaind (Specs/keychain-wire.md).

package import SwiftASN1
package import VaubanAccessPolicy
package import VaubanDER
package import VaubanKeychainModel

/// What a caller asks of the keychain. A value to store travels as the message's secret section.
package enum KeychainRequest: Hashable, Sendable {
    /// `hasData` tells an empty value from none.
    case add(ItemRecord, returns: ReturnKinds, hasData: Bool)
    case copyMatching(ItemQuery)
    case update(ItemQuery, ItemChanges)
    case delete(ItemQuery)
}

/// Which parts of an added item come back.
package struct ReturnKinds: OptionSet, Hashable, Sendable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    package static let data = Self(rawValue: 1)
    package static let attributes = Self(rawValue: 2)
}

/// What an update sets. What is absent stays.
package struct ItemChanges: Hashable, Sendable {
    package var attributes: ItemAttributes
    package var protection: Protection?
    package var accessControl: AccessControl?
    package var hasData: Bool

    package init(attributes: ItemAttributes, protection: Protection? = nil, accessControl: AccessControl? = nil, hasData: Bool = false) {
        self.attributes = attributes
        self.protection = protection
        self.accessControl = accessControl
        self.hasData = hasData
    }
}

extension ItemChanges: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        let attributes: ItemAttributes = try fields.value("attributes")
        let hasData = try fields.boolean("has data")
        var protection: Protection?
        if let number = try fields.optionalInteger(0, "protection", in: 1...64) {
            guard let known = Protection(number: number) else { throw DERFault("protection is unknown") }
            protection = known
        }
        let control = try fields.optional(1, "access control") { try $0.value("access control", as: AccessControl.self) }
        self.init(attributes: attributes, protection: protection, accessControl: control, hasData: hasData)
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.value(attributes)
            try fields.boolean(hasData)
            try fields.optionalInteger(0, protection?.number)
            if let accessControl { try fields.tagged(1) { try $0.value(accessControl) } }
        }
    }
}

/// `KeychainRequest ::= SEQUENCE { version INTEGER (1), call CHOICE { add [0], copyMatching [1], update [2], delete [3] } }`
extension KeychainRequest: DERReadable, DERWritable {
    package static let version: Int64 = 1

    package init(from fields: inout DERFields) throws {
        try fields.version(Self.version)
        let number = try fields.choice("call")
        let call: KeychainRequest? = try fields.optional(number, "call") { call in
            switch number {
            case 0:
                let record: ItemRecord = try call.value("record")
                let returns = ReturnKinds(rawValue: try call.integer("returns", in: 0...3))
                return .add(record, returns: returns, hasData: try call.boolean("has data"))
            case 1: return .copyMatching(try call.value("query"))
            case 2: return .update(try call.value("query"), try call.value("changes"))
            case 3: return .delete(try call.value("query"))
            default: throw Refusal(.unknownRequest, "keychain request \(number) is not known to version \(Self.version)")
            }
        }
        guard let call else { throw DERFault("call is missing") }
        self = call
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.integer(Self.version)
            switch self {
            case .add(let record, let returns, let hasData):
                try fields.tagged(0) { call in
                    try call.value(record)
                    try call.integer(returns.rawValue)
                    try call.boolean(hasData)
                }
            case .copyMatching(let query): try fields.tagged(1) { try $0.value(query) }
            case .update(let query, let changes):
                try fields.tagged(2) { call in
                    try call.value(query)
                    try call.value(changes)
                }
            case .delete(let query): try fields.tagged(3) { try $0.value(query) }
            }
        }
    }
}
