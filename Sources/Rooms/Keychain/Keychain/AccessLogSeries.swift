// A series of records of the access log: each is sealed under its own key, and the key of the previous one is erased (Specs/access-log.md).

internal import Crypto
package import EnclaveWire
internal import Foundation
internal import Glibc
package import KeychainStore
internal import VaubanDER
package import VaubanKeychainWire
internal import VaubanRefusal
package import VaubanSecretBytes

/// A key of a series: the key of one record, from which the keys of later records are derived.
package final class SeriesKey: Sendable {
    private let key: SecretBytes

    package init(_ key: consuming SecretBytes) { self.key = key }

    /// Returns the key of the next record, which does not reveal this one.
    package func successor() -> SeriesKey {
        var derived = Data(derived("vauban access log next v1"))
        return SeriesKey(SecretBytes(absorbing: &derived))
    }

    /// Returns the sealed record with this number.
    package func seal(_ record: [UInt8], number: Int64, series: Int64) throws -> [UInt8] {
        let box = try AES.GCM.seal(Self.padded(record), using: recordKey, authenticating: Self.binding(number: number, series: series))
        return Array(box.nonce) + box.ciphertext + box.tag
    }

    /// Returns the record of a row; nil if the row was altered, or has another key.
    package func open(_ row: LogRow) -> AccessRecord? { opened(row)?.record }

    /// Returns the record of a row without decoding it; nil if the row was altered, or has another key.
    func opened(_ row: LogRow) -> OpenedRecord? {
        guard let box = try? AES.GCM.SealedBox(combined: row.sealed),
            let bytes = try? AES.GCM.open(box, using: recordKey, authenticating: Self.binding(number: row.number, series: row.series))
        else { return nil }
        return OpenedRecord(bytes)
    }

    /// Seals the last uses in the series whose first record has this key, and returns the ciphertext.
    func sealUses(_ uses: [UInt8], of series: Int64) throws -> [UInt8] {
        let box = try AES.GCM.seal(Self.padded(uses), using: usesKey, authenticating: Self.usesBinding(of: series))
        return Array(box.nonce) + box.ciphertext + box.tag
    }

    /// Returns the last uses in the series whose first record has this key; nil if they were altered, or belong to another series.
    package func openUses(_ sealed: [UInt8], of series: Int64) -> SeriesUses? {
        guard let box = try? AES.GCM.SealedBox(combined: sealed),
            let bytes = try? AES.GCM.open(box, using: usesKey, authenticating: Self.usesBinding(of: series))
        else { return nil }
        return Self.content(of: bytes).flatMap { SeriesUses($0, of: series) }
    }

    /// Returns the content without its length and padding; nil if these do not have the form in which they are written.
    fileprivate static func content(of bytes: Data) -> [UInt8]? {
        guard bytes.count >= paddedBytesMin, bytes.count & (bytes.count - 1) == 0 else { return nil }
        let count = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        guard count <= bytes.count - 4, bytes.dropFirst(4 + count).allSatisfy({ $0 == 0 }) else { return nil }
        return Array(bytes.dropFirst(4).prefix(count))
    }

    private var recordKey: SymmetricKey { SymmetricKey(data: derived("vauban access log record v1")) }
    private var usesKey: SymmetricKey { SymmetricKey(data: derived("vauban access log uses v1")) }

    private func derived(_ label: String) -> HMAC<SHA256>.MAC {
        key.withUnsafeBytes { HMAC<SHA256>.authenticationCode(for: Array(label.utf8), using: SymmetricKey(data: $0)) }
    }

    private static let paddedBytesMin = 256

    private static func usesBinding(of series: Int64) -> [UInt8] { Array("access log uses".utf8) + AccessLogEnd.bytes(of: series) }

    private static func binding(number: Int64, series: Int64) -> [UInt8] {
        Array("access log".utf8) + AccessLogEnd.bytes(of: number) + AccessLogEnd.bytes(of: series)
    }

    /// Returns the length of a record, the record, and zeros up to a power of two, so that the size reveals little of what was recorded.
    private static func padded(_ record: [UInt8]) -> [UInt8] {
        let content = withUnsafeBytes(of: UInt32(record.count).bigEndian) { Array($0) } + record
        return content + [UInt8](repeating: 0, count: paddedBytes(of: record.count) - content.count)
    }

    /// Returns the size of a record with this many bytes together with its length and padding.
    static func paddedBytes(of count: Int) -> Int {
        var size = paddedBytesMin
        while size < 4 + count { size *= 2 }
        return size
    }
}

/// A decrypted log record that is not decoded yet.
struct OpenedRecord {
    /// With its length and padding.
    private let bytes: Data

    fileprivate init(_ bytes: Data) { self.bytes = bytes }

    /// Nil if this version cannot read it.
    var record: AccessRecord? { SeriesKey.content(of: bytes).flatMap { try? AccessRecord(derBytes: $0) } }

    /// Returns the record if it contains these bytes, otherwise nil: most records in a search are about other items, and need not be
    /// decoded.
    func record(with part: [UInt8]) -> AccessRecord? { bytes.contains(sequence: part) ? record : nil }
}

extension Data {
    fileprivate func contains(sequence part: [UInt8]) -> Bool {
        withUnsafeBytes { bytes in
            guard let first = part.first, let start = bytes.baseAddress else { return part.isEmpty }
            var place = 0
            while bytes.count - place >= part.count, let hit = memchr(start + place, Int32(first), bytes.count - place - part.count + 1) {
                if memcmp(hit, part, part.count) == 0 { return true }
                place = UnsafeRawPointer(hit) - start + 1
            }
            return false
        }
    }
}

extension AccessLogEnd {
    /// Returns the end of the log after one more record.
    package func adding(_ link: AccessLogLink) -> AccessLogEnd {
        AccessLogEnd(number: link.number, chain: Array(SHA256.hash(data: hashInput(adding: link))))
    }
}

extension LogRow {
    /// The part of the record that enters the chain.
    package var link: AccessLogLink { AccessLogLink(number: number, series: series, digest: Array(SHA256.hash(data: sealed))) }
}

/// What is known of a series without its keys.
struct SeriesStatus: Sendable {
    /// The number of the database (`KeychainDatabase.number`) that the series belongs to.
    let database: Int64
    /// When it began, in nanoseconds since start.
    let began: UInt64
    /// The number of its log records.
    let count: Int64
    /// The number of the last log record.
    let end: Int64
}

/// Where the next record goes.
struct LogSeries: Sendable {
    let database: Int64
    private let began: UInt64
    /// The number of the first record.
    private let first: Int64
    /// The sealed first key, until it is stored.
    var sealedKey: [UInt8]?
    private var key: SeriesKey
    private(set) var end: AccessLogEnd

    /// Begins a series after the last record.
    init(_ key: SeriesKey, sealed: [UInt8], of database: Int64, after end: AccessLogEnd, at now: UInt64) {
        self.key = key
        self.database = database
        began = now
        self.end = end
        sealedKey = sealed
        first = end.number + 1
    }

    var status: SeriesStatus { SeriesStatus(database: database, began: began, count: end.number + 1 - first, end: end.number) }

    /// Whether no record can be added: a reader computes no further keys, or a row with the next number is no log record.
    var isFull: Bool { end.number + 1 - first >= KeychainLimits.logSeriesNumbersMax || end.number + 1 >= AccessLogEnd.numberMax }

    /// Seals the next record. Throws if the series is full.
    mutating func seal(_ record: AccessRecord) throws -> LogRow {
        guard !isFull else { throw Refusal(.unavailable, "The series of the access log is full") }
        let number = end.number + 1
        let sealed = try key.seal(try record.encoded(), number: number, series: first)
        end = end.adding(AccessLogLink(number: number, series: first, digest: Array(SHA256.hash(data: sealed))))
        key = key.successor()
        return LogRow(number: number, series: first, sealed: sealed, chain: end.chain)
    }
}
