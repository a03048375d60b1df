import VaubanDER
import VaubanRefusal
package import VaubanSecretBytes

/// `WrappedItemKey ::= SEQUENCE { version INTEGER (1), kind INTEGER { plain (0), seal (1), layered (2) }, blob OCTET STRING }`:
/// AES-256-GCM under the class key. Kind 0 wraps the item key; kind 1 wraps one seal of it to a factor pair, and is read but no longer
/// written; kind 2 wraps a `LayeredItemKey`.
struct WrappedItemKey: DERReadable, DERWritable {
    enum Kind: Int64 { case plain = 0, seal = 1, layered = 2 }
    let kind: Kind
    let blob: [UInt8]

    init(kind: Kind, blob: [UInt8]) {
        self.kind = kind
        self.blob = blob
    }

    /// Wraps the inner bytes for a row.
    init(_ inner: borrowing SecretBytes, _ kind: Kind, under classKey: HeldKey, row: [UInt8]) throws(Refusal) {
        do throws(WrapError) {
            self.init(kind: kind, blob: try KeyWrap.wrap(inner, under: classKey.key, label: Self.label(kind), context: row))
        } catch {
            throw Refusal(.internalError, "an item key cannot be wrapped")
        }
    }

    func open(under classKey: HeldKey, row: [UInt8]) throws(WrapError) -> SecretBytes {
        try KeyWrap.unwrap(blob, under: classKey.key, label: Self.label(kind), context: row)
    }

    init(from fields: inout DERFields) throws {
        try fields.version(1)
        guard let kind = Kind(rawValue: try fields.integer("kind", in: 0...255)) else { throw DERError("kind is unknown") }
        self.kind = kind
        blob = try fields.octets("blob", in: 28...2000)
    }

    func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(1)
            try fields.integer(kind.rawValue)
            try fields.octets(blob)
        }
    }

    private static func label(_ kind: Kind) -> String {
        switch kind {
        case .plain: "vauban item key v1"
        case .seal: "vauban item key of a factor v1"
        case .layered: "vauban layered item key v1"
        }
    }
}

/// A new item key and its wrapped form.
package struct SealedItemKey: ~Copyable {
    package let wrapped: [UInt8]
    package let key: SecretBytes

    init(wrapped: [UInt8], key: consuming SecretBytes) {
        self.wrapped = wrapped
        self.key = key
    }
}
