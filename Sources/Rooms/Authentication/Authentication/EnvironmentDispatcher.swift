internal import Synchronization
internal import VaubanAuthenticationWire
internal import VaubanDER
internal import VaubanLinuxHost
internal import VaubanRefusal

/// Who wants to hear when it is worth looking again at what their user can show (Specs/environment.md).
final class EnvironmentDispatcher: Sendable {
    private struct Watcher {
        let channel: Channel
        let process: Descriptor?
    }

    private let watchers = Mutex<[UInt32: [ObjectIdentifier: Watcher]]>([:])

    /// From its return on the watcher hears of every change, and of what was before at once.
    func arrive(_ visitor: AcceptedConnection) throws(Refusal) {
        let (channel, user) = (visitor.channel, visitor.peer.uid)
        try watchers.withLock { (watchers) throws(Refusal) in
            var own = watchers[user, default: [:]]
            if own.count >= AuthenticationLimits.watchersPerUserMax { own = Self.living(own) }
            guard own.count < AuthenticationLimits.watchersPerUserMax else {
                throw Refusal(.unavailable, "too many programs watch already")
            }
            own[ObjectIdentifier(channel)] = Watcher(channel: channel, process: visitor.peer.process)
            watchers[user] = own
            Self.tell(channel)
        }
    }

    func leave(_ visitor: AcceptedConnection) {
        watchers.withLock { watchers in
            watchers[visitor.peer.uid]?[ObjectIdentifier(visitor.channel)] = nil
            if watchers[visitor.peer.uid]?.isEmpty == true { watchers[visitor.peer.uid] = nil }
        }
    }

    func changed(_ user: UInt32) {
        watchers.withLock { watchers in for watcher in watchers[user, default: [:]].values { Self.tell(watcher.channel) } }
    }

    /// What there is for everybody came or went.
    func changedForAll() {
        watchers.withLock { watchers in for watcher in watchers.values.flatMap(\.values) { Self.tell(watcher.channel) } }
    }

    /// Without those whose process has ended, and whose child keeps their connection open without knowing it.
    private static func living(_ watchers: [ObjectIdentifier: Watcher]) -> [ObjectIdentifier: Watcher] {
        watchers.filter { _, watcher in
            guard let process = watcher.process, !ProcessDescriptor.isAlive(process) else { return true }
            watcher.channel.shutDown()
            return false
        }
    }

    /// Never waits: whoever has not read the last notice will look again in any case.
    private static func tell(_ channel: Channel) {
        guard channel.takesNotice, let notice = try? EnvironmentNotice.changed.encoded() else { return }
        do { try channel.send(header: notice) } catch {
            // Its thread sees the end, and leaves.
            channel.shutDown()
        }
    }
}
