import VaubanLinuxHost
import VaubanRefusal
import VaubanSyncCarrierWire
import VaubanSyncModel

/// The files of a circle in etcd. Another program, vauban-sync-etcd, uses the network and holds the user's key for it; this program has
/// only a socket to it.
final class EtcdCarrier: SyncCarrier {
    let place: String
    let description: String
    private let helper: EtcdHelper
    private var stream: FrameStream { helper.stream }
    /// Whether a reply was missing or unexpected, so that a later reply could belong to an earlier request.
    private var hasEnded = false

    /// Starts the program for an account, the folder that etcd's operator gave the user.
    init(account path: String) throws(Refusal) {
        place = SyncPlace.place(ofAccount: path)
        helper = try EtcdHelper(account: path)
        description = helper.description
    }

    func watch(for subject: CarrierSubject, besides device: [UInt8], waking wakeup: Wakeup) throws(Refusal) -> any CarrierMonitor {
        try EtcdCarrierMonitor(account: SyncPlace.account(of: place), for: subject, besides: device, waking: wakeup)
    }

    func names(in section: SyncFolder.Section) throws(Refusal) -> [String] {
        guard case .names(let names) = try ask(.names, in: section) else { throw end(EtcdHelper.strange) }
        return names.filter(section.accepts).sorted()
    }

    func read(_ name: String, in section: SyncFolder.Section) throws(Refusal) -> [UInt8]? {
        try bytes(of: try ask(.read, in: section, name: name))
    }

    func read(_ name: String, in section: SyncFolder.Section, unless other: SyncFolder.File) throws(Refusal) -> [UInt8]? {
        try bytes(of: try ask(.readUnless, in: section, name: name, unless: other))
    }

    private func bytes(of reply: CarrierReply) throws(Refusal) -> [UInt8]? {
        switch reply {
        case .file(let bytes): return bytes
        case .absent: return nil
        default: throw end(EtcdHelper.strange)
        }
    }

    func add(_ bytes: [UInt8], named name: String, in section: SyncFolder.Section) throws(Refusal) {
        try checkAdded(name, in: section, try ask(.add, in: section, name: name, file: bytes))
    }

    func add(_ bytes: [UInt8], named name: String, in section: SyncFolder.Section, unless other: SyncFolder.File) throws(Refusal) {
        try checkAdded(name, in: section, try ask(.addUnless, in: section, name: name, unless: other, file: bytes))
    }

    private func checkAdded(_ name: String, in section: SyncFolder.Section, _ reply: CarrierReply) throws(Refusal) {
        switch reply {
        case .done: return
        case .taken: throw SyncFolder.taken("\(section.path)/\(name)")
        default: throw end(EtcdHelper.strange)
        }
    }

    func replace(_ bytes: [UInt8], named name: String, in section: SyncFolder.Section) throws(Refusal) {
        guard case .done = try ask(.replace, in: section, name: name, file: bytes) else { throw end(EtcdHelper.strange) }
    }

    func remove(_ name: String, in section: SyncFolder.Section) {
        if let reply = try? ask(.remove, in: section, name: name), reply != .done { hasEnded = true }
    }

    func erase(_ name: String, in section: SyncFolder.Section) throws(Refusal) {
        guard case .done = try ask(.remove, in: section, name: name) else { throw end(EtcdHelper.strange) }
    }

    /// Does nothing: etcd's keys are in no folders.
    func tidy(_ section: SyncFolder.Section) {}

    func revision() throws(Refusal) -> CarrierRevision? {
        guard case .revision(let cluster, let revision) = try ask(.revision) else { throw end(EtcdHelper.strange) }
        return CarrierRevision(cluster: cluster, revision: revision)
    }

    var remedyForMissingFiles: String { "Ask the operator of etcd whether an older copy was restored" }

    func remedyForForeignFile(_ name: String, in section: SyncFolder.Section) -> String {
        // The description begins with the user's name, as the program sends it (CarrierReply.ready).
        let user = description.prefix { $0 != " " }
        return "ask the operator of etcd to delete /vauban/1/\(user)/files/\(section.path)/\(name)"
    }

    // MARK: Requests

    private func ask(
        _ operation: CarrierRequest.Operation, in section: SyncFolder.Section? = nil, name: String = "",
        unless other: SyncFolder.File? = nil, file: [UInt8] = []
    ) throws(Refusal) -> CarrierReply {
        let other = other.map { CarrierRequest.File(section: $0.section.path, name: $0.name) }
        guard let request = CarrierRequest(operation, section: section?.path ?? "", name: name, unless: other, file: file) else {
            throw Refusal(.internalError, "a file of vauban sync has a wrong name, or is too long")
        }
        guard !hasEnded else { throw EtcdHelper.ended }
        do throws(ChannelError) {
            try stream.send(request.bytes, until: MachineClock.monotonic + Self.sendingTime)
        } catch {
            throw end(EtcdHelper.ended)
        }
        let reply: CarrierReply
        do throws(Refusal) { reply = try helper.reply() } catch { throw end(error) }
        if case .refused(let fault, let text) = reply { throw EtcdHelper.refusal(fault, text) }
        if other != nil, reply == .present { throw SyncFolder.changed }
        return reply
    }

    /// Returns the refusal, and allows no further request.
    private func end(_ refusal: Refusal) -> Refusal {
        hasEnded = true
        return refusal
    }

    private static let sendingTime: UInt64 = 10_000_000_000
}
