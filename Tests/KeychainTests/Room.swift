// The room's logic over a real database and a fake enclave.

import EnclaveWire
import Foundation
import Keychain
import KeychainStore
import Logging
import Synchronization
import VaubanAccessPolicy
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes

/// `@unchecked Sendable`: one test uses it, on one thread.
final class Room: @unchecked Sendable {
    static let user: UInt32 = 4711
    let folder: String
    let leasedKeys = LeasedKeyStore()
    let enclave: FakeEnclave
    private(set) var databases: DatabaseRegistry
    private(set) var accessLogs: AccessLogs
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private let pagesMax: Int?
    let changes = SynchronizableChanges()
    let clock = Mutex<Int64>(800_000_000_000_000)
    /// Nanoseconds that the machine has slept.
    let slept = Mutex<UInt64>(0)
    /// Nanoseconds that have passed by the clocks that cannot be set.
    let passed = Mutex<UInt64>(0)

    private let limits: DatabaseLimits

    /// - Parameters:
    ///   - logger: The journal.
    ///   - pauseMilliseconds: How long uses are collected before a thread writes them; nil if only changes write them.
    init(
        pagesMax: Int? = nil, limits: DatabaseLimits = .ofTheRoom, logger: Logger = Room.logger, pauseMilliseconds: Int32? = nil
    ) throws {
        self.limits = limits
        folder = NSTemporaryDirectory() + "keychain-" + UUID().uuidString
        enclave = try FakeEnclave(user: Self.user, leasedKeys: leasedKeys)
        self.pagesMax = pagesMax
        databases = DatabaseRegistry(state: try PrivateFolder(path: folder, creating: true), pagesMax: pagesMax, limits: limits)
        accessLogs = Self.logs(databases, leasedKeys, logger: logger, pauseMilliseconds: pauseMilliseconds)
    }

    private static func logs(
        _ databases: DatabaseRegistry, _ leasedKeys: LeasedKeyStore, logger: Logger = Room.logger, pauseMilliseconds: Int32? = nil
    ) -> AccessLogs {
        AccessLogs(
            databases: databases, logger: logger, pauseMilliseconds: pauseMilliseconds, entitlements: EntitlementTable.none,
            itemNames: ItemNames(leasedKeys: leasedKeys, sleepClock: SleepClock(boot: { 1000 }, monotonic: { 1000 })))
    }

    /// Creates the room over a database that an earlier version wrote, with its enclave.
    init(database: URL, keys: [(name: KeyLease.Key, bytes: [UInt8])], sealed: [[UInt8]: (row: RowBinding, key: [UInt8])]) throws {
        folder = NSTemporaryDirectory() + "keychain-" + UUID().uuidString
        enclave = FakeEnclave(user: Self.user, leasedKeys: leasedKeys, keys: keys, sealed: sealed)
        pagesMax = nil
        limits = .ofTheRoom
        let state = try PrivateFolder(path: folder, creating: true)
        let user = try state.subfolder("\(Self.user)", creating: true)
        try FileManager.default.copyItem(at: database, to: URL(fileURLWithPath: "\(user.path)/keychain.db"))
        databases = DatabaseRegistry(state: state)
        accessLogs = Self.logs(databases, leasedKeys)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    var userFolder: String { "\(folder)/\(Self.user)" }
    var file: String { "\(userFolder)/keychain.db" }
    var database: KeychainDatabase { get throws { try databases.database(of: Self.user) } }

    /// Restarts keychaind.
    func restart() throws {
        databases = DatabaseRegistry(state: try PrivateFolder(path: folder, creating: false), pagesMax: pagesMax, limits: limits)
        accessLogs = Self.logs(databases, leasedKeys)
        leasedKeys.forget(Self.user)
    }

    /// Lets time pass on all clocks.
    func pass(microseconds: Int64) {
        clock.withLock { $0 += microseconds }
        passed.withLock { $0 += UInt64(microseconds) * 1000 }
    }

    @discardableResult
    func serve(
        _ request: KeychainRequest, value: String? = nil, as caller: Caller = Caller(user: Room.user), siteLists: (any SiteLists)? = nil
    ) throws -> Replies {
        let replies = Replies()
        let now = clock.withLock { $0 }
        let slept = slept.withLock { $0 }
        let passed = passed.withLock { $0 }
        let services = KeychainServices(
            databases: databases, leasedKeys: leasedKeys, now: { now },
            sleepClock: SleepClock(boot: { 1000 + passed + slept }, monotonic: { 1000 + passed }), logger: Self.logger,
            siteLists: siteLists, accessLogs: accessLogs, changes: changes)
        var secret: SecretBytes?
        if let value { secret = SecretBytes(Array(value.utf8)) }
        try RequestInProgress.serve(request, value: secret, of: caller, services: services, enclave: enclave, to: replies)
        return replies
    }

    // MARK: Short forms of the verbs

    func add(
        _ attributes: [AttributeName: AttributeValue], value: String? = "value", kind: ItemKind = .genericPassword,
        _ protection: ProtectionClass = .whenUnlocked, control: AccessControlFlags? = nil, password: String? = nil
    ) throws {
        let control = try control.map { try AccessControl(protection: protection, flags: $0) }
        let record = ItemRecord(kind: kind, attributes: ItemAttributes(attributes), protection: protection, accessControl: control)
        let count = password?.utf8.count
        try serve(.add(record, returns: [], hasData: value != nil, passwordBytes: count), value: joined(value, password))
    }

    func find(
        _ attributes: [AttributeName: AttributeValue], kind: ItemKind = .genericPassword, data: Bool = true, limit: MatchLimit = .one,
        password: String? = nil, _ change: (inout ItemQuery) -> Void = { _ in }
    ) throws -> [Found] {
        var query = ItemQuery(kind: kind, attributes: ItemAttributes(attributes))
        query.returns = data ? [.data, .attributes] : .attributes
        query.limit = limit
        change(&query)
        let replies = try serve(.copyMatching(query, passwordBytes: password?.utf8.count), value: password)
        return replies.found
    }

    func update(
        _ attributes: [AttributeName: AttributeValue], to changes: [AttributeName: AttributeValue] = [:], value: String? = nil,
        protection: ProtectionClass? = nil, control: AccessControl? = nil, kind: ItemKind = .genericPassword, password: String? = nil
    ) throws {
        let query = ItemQuery(kind: kind, attributes: ItemAttributes(attributes))
        let changes = ItemChanges(
            attributes: ItemAttributes(changes), protection: protection, accessControl: control, hasData: value != nil)
        try serve(.update(query, changes, passwordBytes: password?.utf8.count), value: joined(value, password))
    }

    private func joined(_ value: String?, _ password: String?) -> String? {
        value == nil && password == nil ? nil : (value ?? "") + (password ?? "")
    }

    @discardableResult
    func rewrap() throws -> RewrapProgress {
        guard case .rewrapped(let progress)? = try serve(.rewrap).messages.first else { throw Refusal(.internalError) }
        return progress
    }

    func delete(_ attributes: [AttributeName: AttributeValue], kind: ItemKind = .genericPassword) throws {
        try serve(.delete(ItemQuery(kind: kind, attributes: ItemAttributes(attributes))))
    }

    /// Returns all rows as stored on disk.
    func rows(_ kind: ItemKind = .genericPassword) throws -> [StoredRow] {
        let all = RowSelection(kind: kind.rawValue, protection: nil, lookup: nil, filter: [], usesDeviceIndex: false)
        return try database.rows(of: all, after: 0, count: .max, bytesMax: .max)
    }

    func tamper(_ row: StoredRow, with halves: RowHalves) throws {
        let changed = StoredRow(
            item: row.item, kind: row.kind, protection: row.protection, generation: row.generation, blinds: row.blinds, halves: halves)
        guard try database.update([RowChange(old: row.handle, row: changed, changesBlinds: false)]) == .written else {
            throw Refusal(.internalError)
        }
    }
}

extension Room {
    /// For actions of an enclave in the middle of a request.
    ///
    /// `@unchecked Sendable`: the fake enclave calls back on the thread that calls it, which is the test's own.
    final class Reference: @unchecked Sendable {
        private(set) weak var room: Room?
        init(_ room: Room) { self.room = room }
    }
}

struct Found: Equatable {
    let record: ItemRecord?
    let value: String?
}

/// The replies of a request.
final class Replies: ReplySink {
    private(set) var found: [Found] = []
    private(set) var messages: [KeychainReply] = []

    func send(_ reply: KeychainReply) throws {
        // A request reports that it goes on if a busy machine takes two seconds for a part of it.
        guard reply != .queued else { return }
        messages.append(reply)
        if case .items(let items) = reply { found += items.map { Found(record: $0.record, value: nil) } }
    }

    func send(_ reply: KeychainReply, value: borrowing SecretBytes) throws {
        messages.append(reply)
        guard case .items(let items) = reply, items.count == 1 else { throw Refusal(.internalError) }
        found.append(Found(record: items[0].record, value: value.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }))
    }
}

extension Refusal.Reason {
    /// Returns the reason with which `body` is refused; nil if it is not.
    static func of(_ body: () throws -> Void) -> Refusal.Reason? {
        do {
            try body()
            return nil
        } catch let refusal as Refusal {
            return refusal.reason
        } catch {
            return .internalError
        }
    }
}

extension Refusal {
    /// Returns the whole refusal of `body`, as its caller receives it; nil if it is not refused.
    static func of(_ body: () throws -> Void) -> Refusal? {
        do {
            try body()
            return nil
        } catch {
            return error as? Refusal
        }
    }
}
