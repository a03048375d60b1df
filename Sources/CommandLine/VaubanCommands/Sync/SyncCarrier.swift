import Foundation
package import VaubanLinuxHost
package import VaubanRefusal
package import VaubanSyncModel

/// The place of a circle's sealed files: a folder, or etcd. Synchronization needs these operations and no others. Nothing in it is trusted:
/// whoever carries the files may change, lose, duplicate or withhold them.
package protocol SyncCarrier {
    /// The user's name for it, which the sync home remembers.
    var place: String { get }
    /// More about it for the user; empty if there is nothing.
    var description: String { get }

    /// Returns the sorted names of the files in a section.
    func names(in section: SyncFolder.Section) throws(Refusal) -> [String]

    /// Returns the bytes of a file, or nil if it does not exist.
    func read(_ name: String, in section: SyncFolder.Section) throws(Refusal) -> [UInt8]?

    /// Does the same, but throws `keysChanged` if another file exists.
    func read(_ name: String, in section: SyncFolder.Section, unless other: SyncFolder.File) throws(Refusal) -> [UInt8]?

    /// Adds a whole file, durably and atomically. Throws, and keeps the existing file, if one has other content.
    func add(_ bytes: [UInt8], named name: String, in section: SyncFolder.Section) throws(Refusal)

    /// Does the same, but throws `keysChanged` and adds nothing if another file exists. In a folder, that file may appear between check and
    /// write.
    func add(_ bytes: [UInt8], named name: String, in section: SyncFolder.Section, unless other: SyncFolder.File) throws(Refusal)

    /// Writes a whole file, durably and atomically, and replaces an existing one.
    func replace(_ bytes: [UInt8], named name: String, in section: SyncFolder.Section) throws(Refusal)

    /// Removes a file if possible.
    func remove(_ name: String, in section: SyncFolder.Section)

    /// Removes a file; throws if it remains. Does nothing if there is no such file.
    func erase(_ name: String, in section: SyncFolder.Section) throws(Refusal)

    /// Removes what a section contains apart from its files, if possible.
    func tidy(_ section: SyncFolder.Section)

    /// Returns which store this is, and how often it was changed; nil if the carrier does not know.
    func revision() throws(Refusal) -> CarrierRevision?

    /// What the user can do if files are missing, as the beginning of a sentence.
    var remedyForMissingFiles: String { get }

    /// Returns what the user can do about a file that no device wrote, as the end of a sentence.
    func remedyForForeignFile(_ name: String, in section: SyncFolder.Section) -> String

    /// Starts to watch what other devices write, except their reports on access logs, and signals each change.
    func watch(for subject: CarrierSubject, besides device: [UInt8], waking wakeup: Wakeup) throws(Refusal) -> any CarrierMonitor
}

/// The subject of a watch on a carrier.
package enum CarrierSubject: Sendable {
    /// Items and the circle.
    case items
    /// Prompts that devices forward, and their answers.
    case prompts
}

/// A watch on a carrier; it ends when it is released.
package protocol CarrierMonitor: AnyObject {
    /// Renews the watch. To be called before the files are read: every later change is signaled.
    func refresh() throws(Refusal)
    /// The signaled changes.
    var news: CarrierChanges { get }
    /// Why the watch ended; nil while it is running. The end is signaled too.
    var failure: Refusal? { get }
    /// Whether every change is signaled; not so on a network share, where other machines change files.
    var signalsEverything: Bool { get }
    /// The longest time without a signal before files are read anyway, in nanoseconds.
    var silenceMax: UInt64 { get }
}

extension SyncCarrier {
    package var description: String { "" }

    package func revision() throws(Refusal) -> CarrierRevision? { nil }

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

/// The place as the user names it: a folder, or `etcd:` and the folder of an account in etcd.
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
        // A shell expands `~` only at the beginning of a word.
        if path == "~" || path.hasPrefix("~/") { path = NSHomeDirectory() + path.dropFirst() }
        return try EtcdCarrier(account: try SyncFolder.existing(path))
    }

    /// Returns the remembered place, whether or not it exists now.
    static func remembered(_ place: String) throws(Refusal) -> any SyncCarrier {
        guard place.hasPrefix(etcd) else { return SyncFolder(path: place) }
        return try EtcdCarrier(account: account(of: place))
    }

    /// Returns the account of a place in etcd.
    static func account(of place: String) -> String { String(place.dropFirst(etcd.count)) }

    /// Returns the place to remember for an account in etcd.
    static func place(ofAccount path: String) -> String { etcd + path }
}
