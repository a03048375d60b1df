// The request for a page of the access log, and its reply (Specs/access-log.md).

package import VaubanDER

/// The records of the access log to return.
///
/// `AccessLogQuery ::= SEQUENCE { coversAllOwners BOOLEAN, verifies BOOLEAN, before [0] INTEGER (1..281474976710656) OPTIONAL }`
package struct AccessLogQuery: Hashable, Sendable, DERReadable, DERWritable {
    /// Only records with lower numbers; nil for the newest ones.
    package var before: Int64?
    /// Whether to include the items of all owners, which requires the user's consent.
    package var coversAllOwners: Bool
    /// Whether to verify all records, and not only those returned.
    package var verifies: Bool

    package init(before: Int64? = nil, coversAllOwners: Bool = false, verifies: Bool = false) {
        self.before = before
        self.coversAllOwners = coversAllOwners
        self.verifies = verifies
    }

    package init(from fields: inout DERFields) throws {
        coversAllOwners = try fields.boolean("covers all owners")
        verifies = try fields.boolean("verifies")
        before = try fields.optionalInteger(0, "number", in: AccessRecord.numbers)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.boolean(coversAllOwners)
            try fields.boolean(verifies)
            try fields.optionalInteger(0, before)
        }
    }
}

/// A stored record.
///
/// `FoundRecord ::= SEQUENCE { number INTEGER (1..281474976710656), isHidden BOOLEAN, record [0] AccessRecord OPTIONAL }`
package struct FoundRecord: Hashable, Sendable, DERReadable, DERWritable {
    package let number: Int64
    /// Whether it concerns only items of other owners.
    package let isHidden: Bool
    /// The record; nil if it is hidden or cannot be read.
    package let record: AccessRecord?

    package init(number: Int64, isHidden: Bool = false, record: AccessRecord?) {
        self.number = number
        self.isHidden = isHidden
        self.record = record
    }

    package init(from fields: inout DERFields) throws {
        number = try fields.integer("number", in: AccessRecord.numbers)
        isHidden = try fields.boolean("is hidden")
        record = try fields.optional(0, "record") { try $0.value("record", as: AccessRecord.self) }
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(number)
            try fields.boolean(isHidden)
            if let record { try fields.tagged(0) { try $0.value(record) } }
        }
    }
}

/// A fault in the log's records.
///
/// `AccessLogFault ::= SEQUENCE { kind INTEGER (1..6), number INTEGER (0..281474976710656), last [0] INTEGER (0..281474976710656) OPTIONAL
/// }`
package struct AccessLogFault: Hashable, Sendable, DERReadable, DERWritable {
    package enum Kind: Int64, Hashable, Sendable {
        /// Records before this one are missing.
        case missingBefore = 1
        /// This record does not follow the one before it.
        case broken = 2
        /// Records up to this one, the log's end that the enclave keeps, are missing after the last existing record.
        case missingAtEnd = 3
        /// This record differs from the log's end that the enclave keeps.
        case replaced = 4
        /// This record, or each up to the last one, cannot be decrypted.
        case unreadable = 5
        /// There are rows with numbers that no record can have. The fault has the number 0.
        case otherNumbers = 6
    }

    package let kind: Kind
    package let number: Int64
    /// The last of several consecutive records; nil for one.
    package let last: Int64?

    package init(_ kind: Kind, number: Int64, last: Int64? = nil) {
        self.kind = kind
        self.number = number
        self.last = last
    }

    package init(from fields: inout DERFields) throws {
        guard let kind = Kind(rawValue: try fields.integer("kind", in: 1...255)) else { throw DERError("kind is unknown") }
        self.kind = kind
        number = try fields.integer("number", in: 0...AccessRecord.numbers.upperBound)
        last = try fields.optionalInteger(0, "last", in: number...AccessRecord.numbers.upperBound)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(kind.rawValue)
            try fields.integer(number)
            try fields.optionalInteger(0, last)
        }
    }

    /// The numbers of the records that the fault is about.
    package var numbers: ClosedRange<Int64> { number...max(number, last ?? number) }
}

extension AccessRecord {
    /// The numbers that records may have.
    fileprivate static let numbers: ClosedRange<Int64> = 1...1 << 48
}

/// Records of the log, the newest first.
///
/// `AccessLogPage ::= SEQUENCE { oldest INTEGER (0..281474976710656), faults SEQUENCE OF AccessLogFault, records SEQUENCE OF FoundRecord }`
package struct AccessLogPage: Hashable, Sendable, DERReadable, DERWritable {
    package static let recordsMax = 256
    package static let faultsMax = 64

    /// The number of the oldest record of the log; 0 if there is none.
    package let oldest: Int64
    /// The first faults of the log, if it was verified.
    package let faults: [AccessLogFault]
    package let records: [FoundRecord]

    package init(oldest: Int64, faults: [AccessLogFault], records: [FoundRecord]) {
        self.oldest = oldest
        self.faults = faults
        self.records = records
    }

    package init(from fields: inout DERFields) throws {
        oldest = try fields.integer("oldest", in: 0...AccessRecord.numbers.upperBound)
        faults = try fields.list("faults", max: Self.faultsMax)
        records = try fields.list("records", max: Self.recordsMax)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(oldest)
            try fields.list(faults)
            try fields.list(records)
        }
    }
}
