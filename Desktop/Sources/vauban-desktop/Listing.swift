import CGtk
import DesktopKeychain
import VaubanLinuxHost

/// Reads the list in the background. Reads run one after the other, so each starts from the result of the previous one.
@MainActor final class Listing {
    typealias Known = (items: ItemList, mark: ListMark?)
    /// Reads the list, given the list so far. The last parameter is called to show a part of it.
    typealias Work = @Sendable (ItemKeychain, Known, CallCancellation, @escaping @Sendable (ItemList) -> Void) throws -> Known

    private let keychain: ItemKeychain
    private var running: CallCancellation?
    private var waiting: [@MainActor () -> Void] = []
    private var isEnded = false

    init(_ keychain: ItemKeychain) { self.keychain = keychain }

    var isRunning: Bool { running != nil }

    /// Starts a read as soon as the current one has finished. After `end`, no closure is called.
    func begin(
        _ work: @escaping Work, progress: @escaping @MainActor (ItemList) -> Void, current: @escaping @MainActor () -> Known,
        then: @escaping @MainActor (Result<Known, any Error>) -> Void
    ) {
        guard running == nil else {
            return waiting.append { [weak self] in self?.begin(work, progress: progress, current: current, then: then) }
        }
        guard !isEnded else { return }
        let call = CallCancellation()
        running = call
        let (keychain, known) = (keychain, current())
        MainLoop.background {
            try work(keychain, known, call) { items in
                MainLoop.post { [weak self] in
                    if self?.running === call { progress(items) }
                }
            }
        } then: { [weak self] result in
            guard let self, !isEnded else { return }
            running = nil
            then(result)
            if !waiting.isEmpty { waiting.removeFirst()() }
        }
    }

    /// Cancels the current read.
    func end() {
        isEnded = true
        running?.cancel()
        waiting = []
    }
}
