// The request for the head of the access log, and the enclave's reply (Specs/access-log.md, "The head").

package import VaubanDER

/// The limits of heads, of the notes that sign them, and of the keys of those signatures.
package enum LogHeadLimits {
    package static let noteBytesMax = 8192
    /// The longest key as text.
    package static let keyBytesMax = 256
    package static let deviceBytes = 16
    package static let chainBytes = 32
    /// More records than any log can have.
    package static let numberMax: Int64 = 1 << 48
}

/// `LogHeadRequest ::= SEQUENCE { cosigning [0] OCTET STRING (SIZE (1..8192)) OPTIONAL }`
package struct LogHeadRequest: Hashable, Sendable, DERReadable, DERWritable {
    /// The head of another device's log, as a note; nil to sign the head of one's own.
    package let cosigning: [UInt8]?

    package init(cosigning: [UInt8]? = nil) { self.cosigning = cosigning }

    package init(from fields: inout DERFields) throws {
        cosigning = try fields.optionalOctets(0, "note", in: 1...LogHeadLimits.noteBytesMax)
    }

    package func write(into der: inout DERWriter) throws { try der.sequence { try $0.optionalOctets(0, cosigning) } }
}

/// A note that the enclave signed, and its keys for that.
///
/// `SignedLogHead ::= SEQUENCE { note OCTET STRING (SIZE (1..8192)), keys SEQUENCE (SIZE (1..16)) OF LogHeadKey, cosigner LogHeadKey }`
package struct SignedLogHead: Hashable, Sendable, DERReadable, DERWritable {
    package static let keysMax = 16

    package let note: [UInt8]
    /// The keys for heads: first the one that signs now, then earlier ones.
    package let keys: [LogHeadKey]
    /// The key for cosignatures.
    package let cosigner: LogHeadKey

    package init(note: [UInt8], keys: [LogHeadKey], cosigner: LogHeadKey) {
        self.note = note
        self.keys = keys
        self.cosigner = cosigner
    }

    package init(from fields: inout DERFields) throws {
        note = try fields.octets("note", in: 1...LogHeadLimits.noteBytesMax)
        keys = try fields.list("keys", max: Self.keysMax)
        guard !keys.isEmpty else { throw DERError("keys are missing") }
        cosigner = try fields.value("cosigner")
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.octets(note)
            try fields.list(keys)
            try fields.value(cosigner)
        }
    }
}

/// `LogHeadKey ::= SEQUENCE { text UTF8String (SIZE (1..256)) }`, a key that verifies notes, as text
package struct LogHeadKey: Hashable, Sendable, DERReadable, DERWritable {
    package let text: String

    package init(text: String) { self.text = text }

    package init(from fields: inout DERFields) throws {
        text = try fields.text("key", max: LogHeadLimits.keyBytesMax)
        guard !text.isEmpty else { throw DERError("key is missing") }
    }

    package func write(into der: inout DERWriter) throws { try der.sequence { try $0.text(text) } }
}
