// One request of one caller, from its decoded form to its last reply. Each verb is an extension in a separate file.

internal import EnclaveWire
package import KeychainStore
package import Logging
internal import VaubanAccessPolicy
internal import VaubanKeychainModel
internal import VaubanRoomLog
package import VaubanKeychainWire
package import VaubanLinuxHost
internal import VaubanRefusal
package import VaubanSecretBytes

/// The services that all requests of the room share.
package struct KeychainServices: Sendable {
    package let databases: DatabaseRegistry
    package let leasedKeys: LeasedKeyStore
    /// Microseconds since the reference date.
    package let now: @Sendable () -> Int64
    package let sleepClock: SleepClock
    package let logger: Logger
    /// What websites list; nil where programs are not distinguished, and no program has a website.
    package let siteLists: (any SiteLists)?
    let siteRequests = SiteRequests()
    let changes: SynchronizableChanges
    let accessLogs: AccessLogs
    /// For events that programs can cause at will.
    let boundedLog: BoundedLog

    package init(
        databases: DatabaseRegistry, leasedKeys: LeasedKeyStore, now: @escaping @Sendable () -> Int64, sleepClock: SleepClock,
        logger: Logger, siteLists: (any SiteLists)? = nil, accessLogs: AccessLogs? = nil,
        changes: SynchronizableChanges = SynchronizableChanges()
    ) {
        self.changes = changes
        self.siteLists = siteLists
        self.databases = databases
        self.leasedKeys = leasedKeys
        self.now = now
        self.sleepClock = sleepClock
        self.logger = logger
        boundedLog = BoundedLog(logger)
        self.accessLogs = accessLogs ?? AccessLogs(databases: databases, logger: logger)
    }
}

/// Where replies are sent.
package protocol ReplySink {
    func send(_ reply: KeychainReply) throws
    func send(_ reply: KeychainReply, value: borrowing SecretBytes) throws
    /// Sends the last reply of a request, with its value if it has one, and the end.
    func finish(_ reply: KeychainReply, value: borrowing SecretBytes?) throws
    /// The caller's connection, whose end ends a request that waits; nil if there is none.
    var connection: Descriptor? { get }
}

extension ReplySink {
    package var connection: Descriptor? { nil }

    package func finish(_ reply: KeychainReply, value: borrowing SecretBytes?) throws {
        switch value {
        case .none: try send(reply)
        case .some(let value): try send(reply, value: value)
        }
        try send(.done)
    }
}

package final class RequestInProgress {
    let services: KeychainServices
    let caller: Caller
    var user: UInt32 { caller.user }
    let enclave: any EnclaveOperations
    let sink: any ReplySink
    let keys: RequestKeys
    let database: KeychainDatabase
    let accessLog: AccessLog
    /// The application password, which only the enclave inspects.
    let password: SecretBytes?
    /// Why the last absent row counted as absent.
    var absence: RowAbsence?
    /// Whether the user may have been prompted for an item's value in this request.
    var mayHavePrompted = false
    /// The prompt about another owner's item in this request, and its answer.
    var consentAnswer: ConsentAnswer?
    /// Whether the user consented to something in this request.
    var wasPrompted = false
    /// What the request does to items, and whether it needs more of them than their attributes.
    let action: AccessAction
    let usesItems: Bool
    /// Whether a synchronizable item may be among those that the request opens, writes or deletes.
    var meetsSynchronizable = false
    /// The caller's rights, once they are known.
    var knownRights: CallerRights?
    /// Whether the caller counts as the program of a trusted signature.
    private(set) var countsAsSigned = false

    /// Serves a request. Throws a `Refusal` for errors that the caller learns of.
    package static func serve(
        _ request: KeychainRequest, value: consuming SecretBytes?, of caller: Caller, services: KeychainServices,
        enclave: any EnclaveOperations,
        to sink: any ReplySink
    ) throws {
        do throws {
            // A database that cannot be opened can still be restored.
            if case .restore(let date) = request {
                return try RestoreRequest(services: services, caller: caller, enclave: enclave, sink: sink).serve(date)
            }
            // A request that waits holds no database open.
            if case .canary(.alerts(let number)) = request {
                return try AlertRequest(services: services, caller: caller, sink: sink).serve(after: number)
            }
            if case .sync(.changes(let number)) = request {
                return try ChangesRequest(services: services, caller: caller, sink: sink).serve(since: number)
            }
            var secrets = try RequestSecrets(value, of: request)
            let progress = try RequestInProgress(
                caller: caller, services: services, enclave: enclave, sink: sink, request: request, password: secrets.takePassword())
            try progress.serve(request, secrets.value)
        } catch let fault as StorageError {
            throw Refusal(fault)
        } catch let refusal as Refusal {
            throw refusal.outward
        }
    }

    private init(
        caller: Caller, services: KeychainServices, enclave: any EnclaveOperations, sink: any ReplySink, request: KeychainRequest,
        password: consuming SecretBytes?
    ) throws {
        action = request.action
        usesItems = request.usesItems
        self.services = services
        self.caller = caller
        self.enclave = enclave
        self.sink = sink
        self.password = password
        keys = RequestKeys(user: caller.user, leasedKeys: services.leasedKeys, sleepClock: services.sleepClock, enclave: enclave)
        database = try services.databases.database(of: caller.user)
        accessLog = services.accessLogs.log(of: caller.user)
    }

    private func serve(_ request: KeychainRequest, _ value: borrowing SecretBytes) throws {
        try Self.throwIfDenied(caller.entitlements)
        // What cannot be removed now is removed by a later request.
        try? database.purgeExpired(now: services.now())
        prepareLog()
        defer { anchorLog() }
        switch request {
        case .add(let record, let returns, let hasData, _, let applications):
            try add(record, value: PaddedValue(hasValue: hasData, value), returning: returns, readableBy: applications)
        case .update(let query, let changes, _): try update(query, to: changes, value: PaddedValue(hasValue: changes.hasData, value))
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
        case .backup(let request, _): try backup(request, value)
        case .sync(let request): try sync(request, value)
        case .accessLog(let query): try readAccessLog(query)
        case .lastUses(let item): try findLastUses(of: item)
        case .logHead(let query): try sendLogHead(query)
        case .canary(.mark(let query, let isCanary)): try mark(query, isCanary: isCanary)
        case .canary(.list): try listCanaries()
        case .canary(.acknowledge(let total)): try acknowledgeAlerts(total)
        case .ownRights: try sendOwnRights()
        case .sharedPassword(let request): try sharedPassword(request, value)
        // Served elsewhere, without a database.
        case .restore, .handOver, .canary(.alerts): break
        }
    }

    static func throwIfDenied(_ entitlements: Entitlements?) throws(Refusal) {
        if entitlements?.deniesKeychain == true {
            throw Refusal(.missingEntitlement, "the entitlements of this program deny it the keychain")
        }
    }
}

// MARK: The caller

extension RequestInProgress {
    /// Returns what the caller may use. May prompt the user when a new build of a known program first appears.
    func rights(mayPrompt: Bool = true) throws -> CallerRights {
        if let knownRights { return knownRights }
        let rights: CallerRights
        if let identity = caller.identity {
            rights = try self.rights(of: identity, mayPrompt: mayPrompt)
        } else {
            rights = .everything
        }
        knownRights = rights
        return rights
    }

    private func rights(of identity: CallerIdentity, mayPrompt: Bool) throws -> CallerRights {
        // The program that started the command line gives it no rights, so it is not offered as a new build either.
        if identity.throughCommandLine { return CallerRights(identity, caller.entitlements, application: identity.application) }
        let program = try trustedProgramNamedInPrompts()
        countsAsSigned = program != nil
        let entitlements = program?.entitlements ?? caller.entitlements
        try Self.throwIfDenied(entitlements)
        let application = try application(of: identity, as: program?.signer.application ?? identity.application, mayPrompt: mayPrompt)
        return CallerRights(identity, entitlements, application: application, signer: program?.signer)
    }
}

// MARK: The caller's own rights

extension RequestInProgress {
    /// Sends the caller's own groups. Never prompts: a new build of a known program receives its own rights, not its predecessor's.
    private func sendOwnRights() throws {
        let rights = try rights(mayPrompt: false)
        // A refusal of a request that names nothing would only teach programs to ignore refusals.
        let groups = rights.groups.isEmpty ? [rights.defaultGroup].compactMap(\.self) : rights.groups
        let application = countsAsSigned ? caller.signed?.signer.group : caller.identity?.application?.text
        try sink.send(.ownRights(application: application, groups: groups))
        try sink.send(.done)
    }
}

// MARK: The index keys

extension RequestInProgress {
    /// Calls `body` with an index key, after checking that the database's blinds were made with it: another key would find nothing and let
    /// everything be added twice.
    func withIndexKey<Value: Sendable>(_ purpose: KeyLease.Purpose, _ body: (IndexKey) throws -> Value) throws -> Value? {
        guard let generation = try keys.currentGeneration(of: purpose) else { return nil }
        try claim(purpose == .firstUnlockIndex ? 100 : 101, generation)
        return try keys.useIndex(purpose, generation: generation, body)
    }

    /// Binds the database to an index key. A database of another key is refused, unless the enclave reports that key as destroyed: then the
    /// keychain was erased, and these are its remains.
    private func claim(_ purpose: Int64, _ generation: [UInt8]) throws {
        for _ in 0..<KeychainLimits.attemptsMax {
            guard let recorded = try database.claim(indexKey: purpose, generation: generation) else { return }
            switch try fate(purpose, recorded) {
            case .destroyed: try empty(purpose, recorded: recorded)
            // The leased key is the older of the two: it was leased before the keychain was erased.
            case .current: throw Refusal(.keysChanged)
            case .older, .unknown: throw database.foreignKeys
            }
        }
        throw Refusal(.keysChanged)
    }

    /// Returns the blinds of a record. Throws if the first-unlock index is closed.
    func blinds(_ record: ItemRecord) throws -> RowBlinds {
        let kind = record.kind
        let attributes = record.attributes
        guard let blinds = try withIndexKey(.firstUnlockIndex, { AttributeBlinds.ofRow(attributes, kind: kind, key: $0) }) else {
            throw keys.closed
        }
        var device: DeviceBlinds?
        if record.protection.availability == .always {
            device = try withIndexKey(.deviceIndex) { AttributeBlinds.ofRow(attributes, kind: kind, key: $0) }
            guard device != nil else { throw Refusal(.unavailable, "the enclave leases no device index key") }
        }
        return RowBlinds(primary: blinds.primary, list: blinds.list, lookups: blinds.lookups, device: device)
    }

    /// Returns the rows that may match the terms, by the best open index: those of the given groups, or of all groups if there are none.
    func selection(_ terms: SearchTerms, of groups: [String]) throws -> RowSelection {
        // A reference finds its one row, so everything else filters.
        let lookup = terms.reference == nil ? AttributeBlinds.lookup(terms.attributes, kind: terms.kind) : []
        // The lookup's own attributes need not filter again.
        let filter = terms.attributes.compactMap { name, value -> IndexedAttribute? in
            guard let rule = AttributeRule.rule(for: name, of: terms.kind), rule.isIndexed, rule.part != .ifSet || !value.isEmpty,
                !lookup.contains(where: { $0.name == name })
            else { return nil }
            return IndexedAttribute(name: name, value: value)
        }.flatMap(\.terms)
        func plan(_ key: IndexKey, usesDeviceIndex: Bool) -> RowSelection {
            var selection = RowSelection(
                kind: terms.kind.rawValue, protection: terms.protection?.number,
                lookup: lookup.isEmpty ? nil : AttributeBlinds.blind(of: lookup, kind: terms.kind, key: key),
                filter: AttributeBlinds.list(of: filter, kind: terms.kind, key: key),
                anyOf: groups.map {
                    AttributeBlinds.list(of: [IndexedAttribute(name: .accessGroup, value: .text($0))], kind: terms.kind, key: key)
                },
                usesDeviceIndex: usesDeviceIndex)
            selection.item = terms.reference
            if lookup.isEmpty {
                selection.lookups = filter.filter { $0.name == .secretServiceAttributes }.map {
                    AttributeBlinds.blind(of: [$0], kind: terms.kind, key: key)
                }
            }
            return selection
        }
        if let selection = try withIndexKey(.firstUnlockIndex, { plan($0, usesDeviceIndex: false) }) { return selection }
        guard let selection = try withIndexKey(.deviceIndex, { plan($0, usesDeviceIndex: true) }) else {
            throw Refusal(.unavailable, "the enclave leases no device index key")
        }
        return selection
    }

    /// Calls `body` with the rows of a selection until it returns false. Reads in batches and holds nothing of the database while `body`
    /// runs.
    func forEachRow(of selection: RowSelection, batch: Int, _ body: (StoredRow) throws -> Bool) throws {
        var last: Int64 = 0
        while true {
            let rows = try database.rows(of: selection, after: last, count: batch, bytesMax: KeychainLimits.batchBytesMax)
            guard let end = rows.last?.id else { return }
            for row in rows where try !callWithCurrentRow(row, of: selection, body) { return }
            // A batch that neither limit ended was the last.
            let isLimited = rows.count >= batch || rows.reduce(0) { $0 + $1.countedBytes } >= KeychainLimits.batchBytesMax
            guard isLimited else { return }
            last = end
        }
    }

    /// Calls `body` again with the current row if another request wrote it meanwhile. Skips a row that is gone.
    private func callWithCurrentRow(_ row: StoredRow, of selection: RowSelection, _ body: (StoredRow) throws -> Bool) throws -> Bool {
        var row = row
        var attempts = 0
        repeat {
            attempts += 1
            do {
                return try body(row)
            } catch is RowHasChanged {
                guard let now = try database.row(row.id), now.item == row.item, selection.protection.map({ $0 == now.protection }) ?? true
                else { return true }
                row = now
            }
        } while mayRetry(after: attempts)
        throw Self.changedByOthers
    }
}
