import Synchronization
import VaubanLinuxHost
import VaubanRefusal
import VaubanSyncCarrierWire

/// A watch on a user's files in etcd, through a helper process of its own that uses the network.
final class EtcdCarrierMonitor: CarrierMonitor {
    private let helper: EtcdHelper
    private let state: State

    private final class State: Sendable {
        let news = CarrierChanges()
        let failure = Mutex<Refusal?>(nil)
        /// Set when the watch is released.
        let isReleased = Mutex(false)
    }

    init(account path: String, for subject: CarrierSubject, besides device: [UInt8], waking wakeup: Wakeup) throws(Refusal) {
        helper = try EtcdHelper(account: path)
        state = State()
        guard let request = CarrierRequest(.watch, section: "") else { throw EtcdHelper.strange }
        do throws(ChannelError) {
            try helper.stream.send(request.bytes, until: MachineClock.monotonic + Self.sendingTime)
        } catch {
            throw EtcdHelper.ended
        }
        let (stream, state, own) = (helper.stream, state, StoredBackupFolder.hex(device))
        do throws(SystemError) {
            // The thread ends with the helper process, and retains nothing that would keep that process alive.
            try HostThread.start { Self.listen(to: stream, about: subject, state: state, own: own, waking: wakeup) }
        } catch {
            throw Refusal(.unavailable, error.sentence)
        }
    }

    private static func listen(to stream: FrameStream, about subject: CarrierSubject, state: State, own: String, waking wakeup: Wakeup) {
        do throws(Refusal) {
            while true {
                switch try EtcdHelper.reply(stream, until: nil) {
                case .changed(let sections):
                    let others = sections.filter { isNews($0, for: subject, besides: own) }
                    if sections.isEmpty { state.news.addUnknown() }
                    for section in others { state.news.add(section) }
                    if sections.isEmpty || !others.isEmpty { wakeup.signal() }
                case .refused(let fault, let text): throw EtcdHelper.refusal(fault, text)
                default: throw EtcdHelper.strange
                }
            }
        } catch {
            state.failure.withLock { $0 = error }
            if !state.isReleased.withLock({ $0 }) { wakeup.signal() }
        }
    }

    deinit { state.isReleased.withLock { $0 = true } }

    /// Whether a change in a section matters for this subject. For items, it must be able to contain files for this device that this device
    /// did not write. The ends of the access logs wait for the next run: every run writes one, so two devices would wake each other
    /// forever.
    static func isNews(_ section: String, for subject: CarrierSubject, besides own: String) -> Bool {
        let isOfPrompts = section.hasPrefix("\(SyncFolder.Section.promptsFolder)/")
        return switch subject {
        case .items: !isOfPrompts && section != SyncFolder.Section.heads.path && !section.hasSuffix("/\(own)")
        case .prompts: isOfPrompts
        }
    }

    func refresh() throws(Refusal) {}

    var news: CarrierChanges { state.news }

    var failure: Refusal? { state.failure.withLock { $0 } }

    var signalsEverything: Bool { true }

    /// etcd reports every change, but not that tokens expire or clocks are corrected.
    var silenceMax: UInt64 { 3_600_000_000_000 }

    private static let sendingTime: UInt64 = 10_000_000_000
}
