// The request for the signed end of the access log, and its reply (Specs/access-log.md, "The head").

package import VaubanDER
package import VaubanLogHead

/// `LogHeadQuery ::= SEQUENCE { head LogHeadRequest, at [0] INTEGER (1..281474976710656) OPTIONAL }`
package struct LogHeadQuery: Hashable, Sendable, DERReadable, DERWritable {
    package let request: LogHeadRequest
    /// The number of a record whose chain to return, for a comparison with an earlier head.
    package let at: Int64?

    package init(_ request: LogHeadRequest = LogHeadRequest(), at number: Int64? = nil) {
        self.request = request
        at = number
    }

    package init(from fields: inout DERFields) throws {
        request = try fields.value("head")
        at = try fields.optionalInteger(0, "number", in: 1...LogHeadLimits.numberMax)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.value(request)
            try fields.optionalInteger(0, at)
        }
    }
}

/// `LogHeadReply ::= SEQUENCE { head SignedLogHead, oldest INTEGER (0..281474976710656), chain [0] OCTET STRING (SIZE (32)) OPTIONAL }`
package struct LogHeadReply: Hashable, Sendable, DERReadable, DERWritable {
    package let head: SignedLogHead
    /// The number of the oldest record of the log; 0 if there is none.
    package let oldest: Int64
    /// The chain at the requested record; nil if there is no such record.
    package let chain: [UInt8]?

    package init(head: SignedLogHead, oldest: Int64, chain: [UInt8]?) {
        self.head = head
        self.oldest = oldest
        self.chain = chain
    }

    package init(from fields: inout DERFields) throws {
        head = try fields.value("head")
        oldest = try fields.integer("oldest", in: 0...LogHeadLimits.numberMax)
        chain = try fields.optionalOctets(0, "chain", in: LogHeadLimits.chainBytes...LogHeadLimits.chainBytes)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.value(head)
            try fields.integer(oldest)
            try fields.optionalOctets(0, chain)
        }
    }
}
