// The result of examining a user's whole keychain: numbers, places and reasons, never a value or an attribute.

package import VaubanDER

/// `DoctorReport ::= SEQUENCE { rows INTEGER, checked INTEGER, unopened INTEGER, locked INTEGER, found INTEGER, repaired INTEGER,
///   findings SEQUENCE SIZE (0..64) OF DoctorFinding, quarantine SEQUENCE SIZE (0..32) OF Quarantined, copy [0] Copy OPTIONAL,
///   earlier [1] SEQUENCE { date INTEGER, rows INTEGER (0..MAX) } OPTIONAL }`
package struct DoctorReport: Hashable, Sendable {
    package static let findingsMax = 64
    private static let reasonsMax = 32

    /// Rows when the examination began.
    package var rows = 0
    /// Rows that verified.
    package var checked = 0
    /// Verified rows whose value needs the user or an application password; it was not opened.
    package var unopened = 0
    /// The rows that were not checked because their class is locked.
    package var locked = 0
    /// Number of findings, including those that do not fit into `findings`; and how many of them were repaired.
    package var found = 0
    package var repaired = 0
    package var findings: [DoctorFinding] = []
    /// Rows in quarantine now.
    package var quarantine: [Quarantined] = []
    /// The state of the verified copy; nil unless everything was checked and nothing was found.
    package var copy: Copy?
    /// The existing verified copy of an earlier date, if no new one was made; nil if there is none.
    package var earlier: Earlier?

    package init() {}

    package mutating func take(_ finding: DoctorFinding) {
        found += 1
        if finding.isRepaired { repaired += 1 }
        if findings.count < Self.findingsMax { findings.append(finding) }
    }

    /// Quarantined rows with one reason, and since when (microseconds since the reference date).
    package struct Quarantined: Hashable, Sendable {
        package let reason: DoctorFinding.Reason
        package let count: Int
        package let since: Int64

        package init(reason: DoctorFinding.Reason, count: Int, since: Int64) {
            self.reason = reason
            self.count = count
            self.since = since
        }
    }

    package struct Copy: Hashable, Sendable {
        package enum State: Int64, CaseIterable, Sendable {
            case kept = 1
            /// The database exceeds the size up to which copies are kept.
            case tooLarge = 2
            /// The disk failed, or the copy did not verify.
            case failed = 3
            /// The disk has too little space for it.
            case noRoom = 4
        }

        package let state: State
        package let date: Int64
        package let rows: Int
        /// The bytes that must be freed, for `noRoom`, if that was measured.
        package let bytesMissing: Int64?

        package init(_ state: State, date: Int64 = 0, rows: Int = 0, bytesMissing: Int64? = nil) {
            self.state = state
            self.date = date
            self.rows = rows
            self.bytesMissing = bytesMissing
        }
    }

    package struct Earlier: Hashable, Sendable {
        package let date: Int64
        package let rows: Int

        package init(date: Int64, rows: Int) {
            self.date = date
            self.rows = rows
        }
    }
}

/// `DoctorFinding ::= SEQUENCE { reason INTEGER (1..14), row INTEGER (0..MAX), protection INTEGER (0..12), isRepaired BOOLEAN }`
package struct DoctorFinding: Hashable, Sendable {
    /// Reasons up to `keyUnknown` are those of the quarantine, in its order.
    package enum Reason: Int64, CaseIterable, Sendable {
        case binding = 1
        case metadata = 2
        case content = 3
        case digest = 4
        case secret = 5
        case wrappedKey = 6
        case keyUnknown = 7
        /// The class key was destroyed, so the row was removed.
        case keyDestroyed = 8
        /// The columns by which a row is found did not match its attributes.
        case indexColumns = 9
        /// The lookups of a row did not match its attributes.
        case lookups = 10
        /// A lookup referred to no row.
        case orphanedLookup = 11
        /// The database's own indexes did not match its rows.
        case fileIndexes = 12
        /// The file has damaged pages.
        case filePages = 13
        /// A quarantined row opens again and was restored.
        case readmitted = 14
    }

    package let reason: Reason
    /// The row's number; 0 if the finding is not about a row.
    package let row: Int64
    /// The row's protection class; 0 if unknown.
    package let protection: Int64
    package let isRepaired: Bool

    package init(_ reason: Reason, row: Int64 = 0, protection: Int64 = 0, isRepaired: Bool = false) {
        self.reason = reason
        self.row = max(row, 0)
        // A column of a damaged row can have any content.
        self.protection = Self.protections.contains(protection) ? protection : 0
        self.isRepaired = isRepaired
    }

    fileprivate static let protections: ClosedRange<Int64> = 0...12
}

/// `RestorableCopy ::= SEQUENCE { date INTEGER, rows INTEGER (0..MAX), damagedSince [0] INTEGER OPTIONAL }`
///
/// The last verified copy: its date, its number of rows, and when the damaged database was last written.
package struct RestorableCopy: Hashable, Sendable {
    package let date: Int64
    package let rows: Int
    package let damagedSince: Int64?

    package init(date: Int64, rows: Int, damagedSince: Int64?) {
        self.date = date
        self.rows = rows
        self.damagedSince = damagedSince
    }
}

// MARK: DER

private let anyNumber = Int64.min...Int64.max
private let anyCount = 0...Int64.max

extension DoctorReport: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        rows = Int(try fields.integer("rows", in: anyCount))
        checked = Int(try fields.integer("checked", in: anyCount))
        unopened = Int(try fields.integer("unopened", in: anyCount))
        locked = Int(try fields.integer("locked", in: anyCount))
        found = Int(try fields.integer("found", in: anyCount))
        repaired = Int(try fields.integer("repaired", in: anyCount))
        findings = try fields.list("findings", max: Self.findingsMax)
        quarantine = try fields.list("quarantine", max: Self.reasonsMax)
        copy = try fields.optional(0, "copy") { try $0.value("copy", as: Copy.self) }
        earlier = try fields.optional(1, "earlier") { try $0.value("earlier", as: Earlier.self) }
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            for count in [rows, checked, unopened, locked, found, repaired] { try fields.integer(Int64(count)) }
            try fields.list(findings)
            try fields.list(quarantine)
            if let copy { try fields.tagged(0) { try $0.value(copy) } }
            if let earlier { try fields.tagged(1) { try $0.value(earlier) } }
        }
    }
}

extension DoctorReport.Quarantined: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        reason = try DoctorFinding.Reason(from: &fields)
        count = Int(try fields.integer("count", in: anyCount))
        since = try fields.integer("since", in: anyNumber)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(reason.rawValue)
            try fields.integer(Int64(count))
            try fields.integer(since)
        }
    }
}

extension DoctorReport.Copy: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        guard let state = State(rawValue: try fields.integer("state", in: 1...255)) else { throw DERError("state is unknown") }
        self.state = state
        date = try fields.integer("date", in: anyNumber)
        rows = Int(try fields.integer("rows", in: anyCount))
        bytesMissing = try fields.optionalInteger(0, "bytes missing", in: anyCount)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(state.rawValue)
            try fields.integer(date)
            try fields.integer(Int64(rows))
            try fields.optionalInteger(0, bytesMissing)
        }
    }
}

extension DoctorReport.Earlier: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        date = try fields.integer("date", in: anyNumber)
        rows = Int(try fields.integer("rows", in: anyCount))
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(date)
            try fields.integer(Int64(rows))
        }
    }
}

extension DoctorFinding.Reason {
    fileprivate init(from fields: inout DERFields) throws {
        guard let reason = Self(rawValue: try fields.integer("reason", in: 1...255)) else { throw DERError("reason is unknown") }
        self = reason
    }
}

extension DoctorFinding: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        reason = try Reason(from: &fields)
        row = try fields.integer("row", in: anyCount)
        protection = try fields.integer("protection", in: Self.protections)
        isRepaired = try fields.boolean("is repaired")
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(reason.rawValue)
            try fields.integer(row)
            try fields.integer(protection)
            try fields.boolean(isRepaired)
        }
    }
}

extension RestorableCopy: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        date = try fields.integer("date", in: anyNumber)
        rows = Int(try fields.integer("rows", in: anyCount))
        damagedSince = try fields.optionalInteger(0, "damaged since", in: anyNumber)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(date)
            try fields.integer(Int64(rows))
            try fields.optionalInteger(0, damagedSince)
        }
    }
}
