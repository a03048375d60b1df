// One request of one caller, from its decoded form to its last reply. The verbs are extensions, a file each.

internal import EnclaveWire
package import KeychainStore
package import Logging
internal import VaubanAccessPolicy
internal import VaubanKeychainModel
package import VaubanKeychainWire
internal import VaubanRefusal
package import VaubanSecretBytes

/// What all requests of the room share.
package struct KeychainServices: Sendable {
    package let databases: DatabaseRegistry
    package let lent: LeasedKeyStore
    /// Microseconds since the reference date.
    package let now: @Sendable () -> Int64
    package let sleepClock: SleepClock
    package let logger: Logger
    /// For what programs can bring about as often as they like.
    let boundedLog: BoundedLog

    package init(
        databases: DatabaseRegistry, lent: LeasedKeyStore, now: @escaping @Sendable () -> Int64, sleepClock: SleepClock, logger: Logger
    ) {
        self.databases = databases
        self.lent = lent
        self.now = now
        self.sleepClock = sleepClock
        self.logger = logger
        boundedLog = BoundedLog(logger)
    }
}

/// Where replies go.
package protocol ReplySink {
    func send(_ reply: KeychainReply) throws
    func send(_ reply: KeychainReply, value: borrowing SecretBytes) throws
    /// The last reply of a request, with its value where it has one, and the end.
    func finish(_ reply: KeychainReply, value: borrowing SecretBytes?) throws
}

extension ReplySink {
    package func finish(_ reply: KeychainReply, value: borrowing SecretBytes?) throws {
        switch value {
        case .none: try send(reply)
        case .some(let value): try send(reply, value: value)
        }
        try send(.done)
    }
}

package final class RequestInProgress {
    let parts: KeychainServices
    let caller: Caller
    var user: UInt32 { caller.user }
    let enclave: any EnclaveConnectionThread
    let sink: any ReplySink
    let keys: KeyBorrower
    let database: KeychainDatabase
    /// The application's own, for items that need one; the enclave alone looks at it.
    let password: SecretBytes?
    /// Why the last row that behaved as absent did.
    var absence: RowAbsence?
    /// Whether the user may have been asked for an item's value in this request.
    var mayHaveAsked = false
    /// What the user was asked in this request about another owner's items.
    var agreed: Agreement?
    /// What the caller may use, once it has been found out.
    private var knownRights: CallerRights?

    /// Serves a request. What goes wrong is thrown, as a `Refusal` where the caller is to be told.
    package static func serve(
        _ request: KeychainRequest, value: consuming SecretBytes?, of caller: Caller, parts: KeychainServices,
        enclave: any EnclaveConnectionThread,
        to sink: any ReplySink
    ) throws {
        do throws {
            // Where the database cannot be opened, it can still be put back.
            if case .restore(let date) = request {
                return try Restoring(parts: parts, caller: caller, enclave: enclave, sink: sink).serve(date)
            }
            var secrets = try RequestSecrets(value, of: request)
            let progress = try RequestInProgress(caller, parts, enclave, sink, password: secrets.takePassword())
            try progress.serve(request, secrets.value)
        } catch let fault as StorageError {
            throw Refusal(fault)
        } catch let refusal as Refusal {
            throw refusal.outward
        }
    }

    private init(
        _ caller: Caller, _ parts: KeychainServices, _ enclave: any EnclaveConnectionThread, _ sink: any ReplySink,
        password: consuming SecretBytes?
    ) throws {
        self.parts = parts
        self.caller = caller
        self.enclave = enclave
        self.sink = sink
        self.password = password
        keys = KeyBorrower(user: caller.user, lent: parts.lent, sleepClock: parts.sleepClock, enclave: enclave)
        database = try parts.databases.database(of: caller.user)
    }

    private func serve(_ request: KeychainRequest, _ value: borrowing SecretBytes) throws {
        try Self.throwIfDenied(caller)
        // What cannot be removed now is removed at another request.
        try? database.purgeExpired(now: parts.now())
        switch request {
        case .add(let record, let returns, let hasData, _, let applications):
            try add(record, PaddedValue(hasValue: hasData, value), returns, readableBy: applications)
        case .update(let query, let changes, _): try update(query, changes, PaddedValue(hasValue: changes.hasData, value))
        case .copyMatching(let query, _): try copyMatching(query)
        case .delete(let query, let atOnce): try delete(query, atOnce: atOnce)
        case .rewrap: try rewrap()
        case .discard: try discard()
        case .permissions: try listPermissions()
        case .permit(let change): try permit(change)
        case .move(let owner): try move(to: owner)
        case .transfer(let query, let attributes, let keepsOriginal): try transfer(query, attributes, keepsOriginal: keepsOriginal)
        case .examine: try examine()
        case .history(let request, _): try history(request)
        case .ownRights: try tellOwnRights()
        // Served without a database.
        case .restore, .handOver: break
        }
    }

    static func throwIfDenied(_ caller: Caller) throws(Refusal) {
        if caller.entitlements?.deniesKeychain == true {
            throw Refusal(.missingEntitlement, "the administrator denies this program the keychain")
        }
    }
}

// MARK: The caller

extension RequestInProgress {
    /// What the caller may use. May ask the user, where a new build of a known program comes for the first time.
    func rights(mayAsk: Bool = true) throws -> CallerRights {
        if let knownRights { return knownRights }
        let rights: CallerRights
        if let identity = caller.identity {
            // Who started the command line has no rights by that, so it is not asked about as a new build either.
            let application = identity.throughCommandLine ? identity.application : try application(of: identity, mayAsk: mayAsk)
            rights = CallerRights(identity, caller.entitlements, application: application)
        } else {
            rights = .everything
        }
        knownRights = rights
        return rights
    }
}

// MARK: What a caller is told of itself

extension RequestInProgress {
    /// Asks nobody: a new build of a known program is told what it may use as it is.
    private func tellOwnRights() throws {
        let rights = try rights(mayAsk: false)
        // To be refused for something that names nothing would only teach programs to pass over it.
        let groups = rights.groups.isEmpty ? [rights.defaultGroup].compactMap(\.self) : rights.groups
        try sink.send(.ownRights(application: caller.identity?.application?.text, groups: groups))
        try sink.send(.done)
    }
}

// MARK: The index keys

extension RequestInProgress {
    /// Uses an index key, after making sure that it is the one that this database's blinds are made with: under another
    /// nothing would be found, and everything could be added twice.
    func withIndexKey<Value: Sendable>(_ purpose: KeyLease.Purpose, _ body: (IndexKey) throws -> Value) throws -> Value? {
        guard let generation = try keys.currentGeneration(of: purpose) else { return nil }
        try claim(purpose == .firstUnlockIndex ? 100 : 101, generation)
        return try keys.useIndex(purpose, generation: generation, body)
    }

    /// A database of other index keys is refused, unless the enclave says that they are gone for good: then the keychain
    /// was erased, and this is what is left of it.
    private func claim(_ purpose: Int64, _ generation: [UInt8]) throws {
        for _ in 0..<KeychainLimits.attemptsMax {
            guard let recorded = try database.claim(indexKey: purpose, generation: generation) else { return }
            switch try fate(purpose, recorded) {
            case .destroyed: try empty(purpose, recorded: recorded)
            // The lent key is the older one of the two: it was lent before the keychain was erased.
            case .current: throw Refusal(.keysChanged)
            case .older, .unknown: throw database.foreignKeys
            }
        }
        throw Refusal(.keysChanged)
    }

    /// What a row can be found by; refused where the first-unlock index is closed.
    func blinds(_ record: ItemRecord) throws -> RowBlinds {
        let kind = record.kind
        let attributes = record.attributes
        guard let blinds = try withIndexKey(.firstUnlockIndex, { AttributeBlinds.ofRow(kind, attributes, $0) }) else { throw keys.closed }
        var device: DeviceBlinds?
        if record.protection.availability == .always {
            device = try withIndexKey(.deviceIndex) { AttributeBlinds.ofRow(kind, attributes, $0) }
            guard device != nil else { throw Refusal(.unavailable, "the enclave lends no device index key") }
        }
        return RowBlinds(primary: blinds.primary, list: blinds.list, lookups: blinds.lookups, device: device)
    }

    /// Which rows the terms may mean, by the best index that is open: those of the groups, or of all groups without any.
    func selection(_ terms: SearchTerms, of groups: [String]) throws -> RowSelection {
        // The one row of a reference is found by that, and everything else filters.
        let lookup = terms.reference == nil ? AttributeBlinds.lookup(terms.kind, terms.attributes) : []
        // What the row is looked up by need not filter again.
        let filter = terms.attributes.values.compactMap { name, value -> IndexedAttribute? in
            guard let rule = AttributeRule.rule(for: name, of: terms.kind), rule.isIndexed, rule.part != .ifSet || !value.isEmpty,
                !lookup.contains(where: { $0.name == name })
            else { return nil }
            return IndexedAttribute(name: name, value: value)
        }.flatMap(\.terms)
        func plan(_ key: IndexKey, usesDeviceIndex: Bool) -> RowSelection {
            var selection = RowSelection(
                kind: terms.kind.rawValue, protection: terms.protection?.number,
                lookup: lookup.isEmpty ? nil : AttributeBlinds.blind(terms.kind, lookup, key),
                filter: AttributeBlinds.list(terms.kind, filter, key),
                anyOf: groups.map { AttributeBlinds.list(terms.kind, [IndexedAttribute(name: .accessGroup, value: .text($0))], key) },
                usesDeviceIndex: usesDeviceIndex)
            selection.item = terms.reference
            if lookup.isEmpty {
                selection.lookups = filter.filter { $0.name == .secretServiceAttributes }.map {
                    AttributeBlinds.blind(terms.kind, [$0], key)
                }
            }
            return selection
        }
        if let selection = try withIndexKey(.firstUnlockIndex, { plan($0, usesDeviceIndex: false) }) { return selection }
        guard let selection = try withIndexKey(.deviceIndex, { plan($0, usesDeviceIndex: true) }) else {
            throw Refusal(.unavailable, "the enclave lends no device index key")
        }
        return selection
    }

    /// Goes through the rows of a selection in batches, holding nothing of the database while `body` runs.
    func forEachRow(of selection: RowSelection, batch: Int, _ body: (StoredRow) throws -> Bool) throws {
        var last: Int64 = 0
        while true {
            let rows = try database.rows(of: selection, after: last, count: batch, bytesMax: KeychainLimits.batchBytesMax)
            guard let end = rows.last?.id else { return }
            for row in rows where try !asItIsNow(row, selection, body) { return }
            last = end
        }
    }

    /// Goes on with a row that someone has written while it was opened, as it is then; one that is gone is passed over.
    private func asItIsNow(_ row: StoredRow, _ selection: RowSelection, _ body: (StoredRow) throws -> Bool) throws -> Bool {
        var row = row
        var tries = 0
        repeat {
            tries += 1
            do {
                return try body(row)
            } catch is RowHasChanged {
                guard let now = try database.row(row.id), now.item == row.item, selection.protection.map({ $0 == now.protection }) ?? true
                else { return true }
                row = now
            }
        } while mayRepeat(after: tries)
        throw Self.changedByOthers
    }
}
