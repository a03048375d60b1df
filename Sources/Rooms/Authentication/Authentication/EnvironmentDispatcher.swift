internal import Synchronization
internal import VaubanAuthenticationWire
internal import VaubanDER
internal import VaubanLinuxHost
internal import VaubanRefusal

/// The watchers of each user's environment (Specs/environment.md).
final class EnvironmentDispatcher: Sendable {
    private struct Watcher {
        let channel: Channel
        let process: Descriptor?
    }

    private let watchers = Mutex<[UInt32: [ObjectIdentifier: Watcher]]>([:])

    /// Adds a watcher. It is notified at once, and of every later change.
    func add(_ connection: AcceptedConnection) throws(Refusal) {
        let (channel, user) = (connection.channel, connection.peer.uid)
        try watchers.withLock { (watchers) throws(Refusal) in
            var own = watchers[user, default: [:]]
            if own.count >= AuthenticationLimits.watchersPerUserMax { own = Self.removingEndedProcesses(own) }
            guard own.count < AuthenticationLimits.watchersPerUserMax else {
                throw Refusal(.unavailable, "Too many of your programs watch the authentication methods already; end one of them")
            }
            own[ObjectIdentifier(channel)] = Watcher(channel: channel, process: connection.peer.process)
            watchers[user] = own
            Self.send(channel)
        }
    }

    func remove(_ connection: AcceptedConnection) {
        watchers.withLock { watchers in
            watchers[connection.peer.uid]?[ObjectIdentifier(connection.channel)] = nil
            if watchers[connection.peer.uid]?.isEmpty == true { watchers[connection.peer.uid] = nil }
        }
    }

    func changed(_ user: UInt32) {
        watchers.withLock { watchers in for watcher in watchers[user, default: [:]].values { Self.send(watcher.channel) } }
    }

    /// Notifies all watchers, after the enclave's connection came or went.
    func changedForAll() {
        watchers.withLock { watchers in for watcher in watchers.values.flatMap(\.values) { Self.send(watcher.channel) } }
    }

    /// Returns the watchers without those whose process has ended; a child may unknowingly keep their connection open.
    private static func removingEndedProcesses(_ watchers: [ObjectIdentifier: Watcher]) -> [ObjectIdentifier: Watcher] {
        watchers.filter { _, watcher in
            guard let process = watcher.process, !ProcessDescriptor.isAlive(process) else { return true }
            watcher.channel.shutDown()
            return false
        }
    }

    /// Sends a notice without waiting: a watcher that has not read the previous one will read the state anyway.
    private static func send(_ channel: Channel) {
        guard channel.canSendNotice, let notice = try? EnvironmentNotice.changed.encoded() else { return }
        do { try channel.send(header: notice) } catch {
            // The connection's thread detects the end and removes the watcher.
            channel.shutDown()
        }
    }
}
