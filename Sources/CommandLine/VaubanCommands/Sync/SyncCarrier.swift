import Foundation
package import VaubanLinuxHost
package import VaubanRefusal

/// The place of a circle's sealed files: a folder, or etcd. Its operations are all that synchronization asks of it. Nothing in it is
/// trusted: whoever carries the files may change, lose, double or hold them back.
package protocol SyncCarrier {
    /// What the user calls it, and the sync home remembers.
    var place: String { get }
    /// More about it for the user; empty if there is nothing.
    var description: String { get }

    /// Returns the names of a section, in their order.
    func names(in section: SyncFolder.Section) throws(Refusal) -> [String]

    /// Returns the bytes of a file, or nil if it is not there.
    func read(_ name: String, in section: SyncFolder.Section) throws(Refusal) -> [UInt8]?

    /// The same, but throws `keysChanged` if another file is there.
    func read(_ name: String, in section: SyncFolder.Section, unless other: SyncFolder.File) throws(Refusal) -> [UInt8]?

    /// Adds a whole file, durably and under its name at once. An existing file with other content is kept, and this throws.
    func add(_ bytes: [UInt8], named name: String, in section: SyncFolder.Section) throws(Refusal)

    /// The same, but throws `keysChanged` and adds nothing if another file is there. In a folder that one may come in between.
    func add(_ bytes: [UInt8], named name: String, in section: SyncFolder.Section, unless other: SyncFolder.File) throws(Refusal)

    /// Writes a whole file, durably and under its name at once, also in place of another.
    func replace(_ bytes: [UInt8], named name: String, in section: SyncFolder.Section) throws(Refusal)

    /// Removes a file, if that can be done.
    func remove(_ name: String, in section: SyncFolder.Section)

    /// Removes a file; throws if it remains. Does nothing if there is no such file.
    func erase(_ name: String, in section: SyncFolder.Section) throws(Refusal)

    /// Removes what a section has besides files, if that can be done.
    func tidy(_ section: SyncFolder.Section)

    /// What the user does if files are missing, as the beginning of a sentence.
    var remedyForMissingFiles: String { get }

    /// Returns what the user does about a file that no device wrote, as the end of a sentence.
    func remedyForForeignFile(_ name: String, in section: SyncFolder.Section) -> String

    /// Begins to watch what other devices write, besides what they say of their access logs, and signals each change.
    func watch(for subject: CarrierSubject, besides device: [UInt8], waking wakeup: Wakeup) throws(Refusal) -> any CarrierWatch
}

/// What is watched on a carrier.
package enum CarrierSubject: Sendable {
    /// Items, and the circle.
    case items
    /// Prompts that devices forward, and the answers to them.
    case prompts
}

/// A watch on a carrier; it ends when it is released.
package protocol CarrierWatch: AnyObject {
    /// Called before the files are read: what changes from then on is signaled.
    func refresh() throws(Refusal)
    /// What was signaled.
    var news: CarrierNews { get }
    /// Why the watch ended; also signaled.
    var failure: Refusal? { get }
    /// Whether every change is signaled: what another machine changes on a network share is not.
    var signalsEverything: Bool { get }
    /// The longest time without a signal before files are read anyway, in nanoseconds.
    var silenceMax: UInt64 { get }
}

extension SyncCarrier {
    package var description: String { "" }

    package func read(_ name: String, in section: SyncFolder.Section, unless other: SyncFolder.File) throws(Refusal) -> [UInt8]? {
        guard try read(other.name, in: other.section) == nil else { throw SyncFolder.changed }
        return try read(name, in: section)
    }

    package func add(
        _ bytes: [UInt8], named name: String, in section: SyncFolder.Section, unless other: SyncFolder.File
    ) throws(Refusal) {
        guard try read(other.name, in: other.section) == nil else { throw SyncFolder.changed }
        try add(bytes, named: name, in: section)
    }
}

/// What the user names as the place: a folder, or `etcd:` and the folder of an account in etcd.
enum SyncPlace {
    private static let etcd = "etcd:"

    /// Returns the empty place for a new circle, and makes its folder.
    static func new(_ text: String) throws(Refusal) -> any SyncCarrier {
        guard text.hasPrefix(etcd) else { return try SyncFolder.new(text) }
        let carrier = try existing(text)
        guard try carrier.names(in: .circle).isEmpty, try carrier.names(in: .join).isEmpty else {
            throw Refusal(
                .badParameter,
                "\(SafeText.visible(text)) is not empty; ask the operator for another user, or join the circle in it with vauban sync join")
        }
        return carrier
    }

    /// Returns a place that exists.
    static func existing(_ text: String) throws(Refusal) -> any SyncCarrier {
        guard text.hasPrefix(etcd) else { return SyncFolder(path: try SyncFolder.existing(text)) }
        var path = String(text.dropFirst(etcd.count))
        // A shell leaves what is not at the beginning of a word.
        if path == "~" || path.hasPrefix("~/") { path = NSHomeDirectory() + path.dropFirst() }
        return try EtcdCarrier(account: try SyncFolder.existing(path))
    }

    /// Returns the place that was remembered, whether or not it is there now.
    static func remembered(_ place: String) throws(Refusal) -> any SyncCarrier {
        guard place.hasPrefix(etcd) else { return SyncFolder(path: place) }
        return try EtcdCarrier(account: account(of: place))
    }

    /// Returns the account of a place in etcd.
    static func account(of place: String) -> String { String(place.dropFirst(etcd.count)) }

    /// Returns what is remembered of an account in etcd.
    static func place(ofAccount path: String) -> String { etcd + path }
}
