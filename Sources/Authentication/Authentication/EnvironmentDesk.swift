internal import Synchronization
internal import VaubanAccessPolicy
internal import VaubanAuthenticationWire
internal import VaubanDER
internal import VaubanLinuxHost

/// Who wants to hear when it is worth looking again at what their person can show (Specs/environment.md).
final class EnvironmentDesk: Sendable {
    private let watchers = Mutex<[UInt32: [ObjectIdentifier: Channel]]>([:])

    /// From its return on the watcher hears of every change, and of what was before at once.
    func arrive(_ channel: Channel, of person: UInt32) throws(Refusal) {
        try watchers.withLock { (watchers) throws(Refusal) in
            guard watchers[person, default: [:]].count < AuthenticationLimits.watchersPerPersonMax else {
                throw Refusal(.unavailable, "too many programs watch already")
            }
            watchers[person, default: [:]][ObjectIdentifier(channel)] = channel
            Self.tell(channel)
        }
    }

    func leave(_ channel: Channel, of person: UInt32) {
        watchers.withLock { watchers in
            watchers[person]?[ObjectIdentifier(channel)] = nil
            if watchers[person]?.isEmpty == true { watchers[person] = nil }
        }
    }

    func changed(_ person: UInt32) {
        watchers.withLock { watchers in for channel in watchers[person, default: [:]].values { Self.tell(channel) } }
    }

    /// What there is for everybody came or went.
    func changedForAll() {
        watchers.withLock { watchers in for channel in watchers.values.flatMap(\.values) { Self.tell(channel) } }
    }

    /// Never waits: whoever has not read the last notice will look again in any case.
    private static func tell(_ channel: Channel) {
        guard channel.takesNotice, let notice = try? WatchNotice.changed.encoded() else { return }
        do { try channel.send(header: notice) } catch {
            // Its thread sees the end, and leaves.
            channel.shutDown()
        }
    }
}
