package import VaubanAccessPolicy
package import VaubanDER

/// An item without its secret: as it is added, changed and returned.
package struct ItemRecord: Hashable, Sendable {
    package var kind: ItemKind
    package var attributes: ItemAttributes
    /// The protection class; the access control's, if there is one.
    package var protection: ProtectionClass
    package var accessControl: AccessControl?

    package init(
        kind: ItemKind, attributes: ItemAttributes, protection: ProtectionClass = .whenUnlocked, accessControl: AccessControl? = nil
    ) {
        self.kind = kind
        self.attributes = attributes
        self.protection = accessControl?.protection ?? protection
        self.accessControl = accessControl
    }
}

/// `ItemRecord ::= SEQUENCE { kind INTEGER, attributes ItemAttributes, protection INTEGER,
///   accessControl [0] AccessControl OPTIONAL }`; a control's class and the item's are the same.
extension ItemRecord: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        guard let kind = ItemKind(nameable: try fields.integer("kind", in: 1...255)) else { throw DERError("kind is unknown") }
        let attributes: ItemAttributes = try fields.value("attributes")
        guard let protection = ProtectionClass(number: try fields.integer("protection", in: 1...64)) else {
            throw DERError("protection is unknown")
        }
        let control = try fields.optional(0, "access control") { try $0.value("access control", as: AccessControl.self) }
        if let control, control.protection != protection { throw DERError("access control is of another class") }
        self.init(kind: kind, attributes: attributes, protection: protection, accessControl: control)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(kind.rawValue)
            try fields.value(attributes)
            try fields.integer(protection.number)
            if let accessControl { try fields.tagged(0) { try $0.value(accessControl) } }
        }
    }
}
