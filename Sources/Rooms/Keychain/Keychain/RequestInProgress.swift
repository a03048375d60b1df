// One request of one caller, from its decoded form to its last reply. Each verb is an extension in a separate file.

internal import EnclaveWire
internal import KeychainStore
internal import VaubanAccessPolicy
internal import VaubanKeychainModel
package import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanRefusal
package import VaubanSecretBytes

package final class RequestInProgress {
    let services: KeychainServices
    let caller: Caller
    var user: UInt32 { caller.user }
    let enclave: any EnclaveOperations
    let sink: any ReplySink
    let keys: RequestKeys
    let database: KeychainDatabase
    let accessLog: AccessLog
    /// The application password. Only the enclave verifies it.
    let password: SecretBytes?
    /// Why the last row that counted as absent did so.
    var absence: RowAbsence?
    /// Whether a row that does not open could not be quarantined or removed, since the disk is full.
    var lacksRoom = false
    /// Whether the user may have been prompted for an item's value in this request.
    var mayHavePrompted = false
    /// The prompt about another owner's item in this request, and its answer.
    var consentAnswer: ConsentAnswer?
    /// Whether the user consented to something in this request.
    var wasPrompted = false
    /// How the request uses items, and whether it needs more than their attributes.
    let action: AccessAction
    let usesItems: Bool
    /// Whether the request may open, write or delete a synchronizable item.
    var meetsSynchronizable = false
    /// The caller's rights, once they are known.
    var knownRights: CallerRights?
    /// When the request began, or last told its caller that it goes on.
    private var reported = MachineClock.monotonic
    /// Whether the caller counts as the program of a trusted signature.
    private(set) var countsAsSigned = false

    /// Serves a request. Throws a `Refusal` for errors that are reported to the caller.
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
            // A request that waits must not hold a database open.
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
        } catch is RowHasChanged {
            throw changedByOthers
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
        try reportProgress()
        // If the removal fails, a later request repeats it.
        try? database.purgeExpired(now: services.now(), boot: services.sleepClock.sinceBoot())
        prepareLog()
        try reportProgress()
        do { try dispatch(request, value) } catch let refusal as Refusal where refusal.reason == .unavailable {
            // The enclave may be silent, and the caller is not to wait for it once more. Another request reports the end of the log.
            throw refusal
        } catch {
            // The caller has no reply yet.
            try? reportProgress()
            anchorLog(report: reportProgress)
            throw error
        }
        anchorLog()
    }

    private func dispatch(_ request: KeychainRequest, _ value: borrowing SecretBytes) throws {
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

    /// Tells the caller that the request goes on, if it has heard nothing for a while. On a busy disk, the first request to a new keychain
    /// waits for many writes, one after the other.
    func reportProgress() throws {
        let now = MachineClock.monotonic
        guard now - reported >= KeychainLimits.silenceMax else { return }
        try sink.send(.queued)
        reported = now
    }

    static func throwIfDenied(_ entitlements: Entitlements?) throws(Refusal) {
        if entitlements?.deniesKeychain == true {
            throw Refusal(.missingEntitlement, "the entitlements of this program deny it the keychain")
        }
    }
}

// MARK: The caller

extension RequestInProgress {
    /// Returns the caller's rights. May prompt the user when a new build of a known program first appears.
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
    /// Sends the caller's own groups. Never prompts: a new build of a known program gets its own groups, not its predecessor's.
    private func sendOwnRights() throws {
        let rights = try rights(mayPrompt: false)
        // A request that names nothing is not refused, since such refusals would only teach programs to ignore them.
        let groups = rights.groups.isEmpty ? [rights.defaultGroup].compactMap(\.self) : rights.groups
        let application = countsAsSigned ? caller.signed?.signer.group : caller.identity?.application?.text
        try sink.send(.ownRights(application: application, groups: groups))
        try sink.send(.done)
    }
}
