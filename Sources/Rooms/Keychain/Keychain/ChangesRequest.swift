internal import VaubanKeychainWire

/// The request for the number of the last change of a synchronizable item, which may wait for the next one (Specs/sync.md, "Following"). It
/// reveals of items their identities alone, and keeps no database open.
struct ChangesRequest {
    let services: KeychainServices
    let caller: Caller
    let sink: any ReplySink

    /// Sends the number of the last change and which items changed. With a number, waits until it differs, or for some minutes.
    func serve(since number: Int64?) throws {
        try RequestInProgress.throwIfDenied(caller.entitlements)
        try RequestInProgress.throwUnlessForSync(caller)
        let changes = services.changes
        func current() -> Int64 { changes.number(of: caller.user) }
        guard let number else { return try finish(current()) }
        try finish(
            changes.waiters.wait(
                of: caller.user, for: KeychainLimits.waitTime, connection: sink.connection,
                until: { current() == number ? nil : current() }, atDeadline: current),
            since: number)
    }

    private func finish(_ number: Int64, since known: Int64? = nil) throws {
        let items = known.flatMap { services.changes.items(of: caller.user, since: $0) }
        try sink.finish(.sync(.changes(number: number, items: items)), value: nil)
    }
}
