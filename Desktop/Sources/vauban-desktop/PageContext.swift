import CGtk
import DesktopKeychain
import VaubanLinuxHost

/// What all pages share: the keychain, the clipboard, a message at the foot of the page, and one request at a time.
@MainActor final class PageContext {
    let keychain: ItemKeychain
    let clipboard: Clipboard
    let notice = Notice()
    /// The seconds until a shown secret is hidden.
    let hideSeconds: UInt32
    private var isEnded = false
    private var running: CallCancellation?
    private let locked: @MainActor () -> Void

    init(_ keychain: ItemKeychain, _ clipboard: Clipboard, hideSeconds: UInt32, locked: @escaping @MainActor () -> Void) {
        self.keychain = keychain
        self.clipboard = clipboard
        self.hideSeconds = hideSeconds
        self.locked = locked
    }

    /// Runs a request in the background, unless the page already has one. If it fails, calls `otherwise` and shows the error, or calls
    /// `explaining` with the error's text instead; the text is empty if the request was cancelled. After the page has ended, no closure is
    /// called.
    func ask<Value: Sendable>(
        _ work: @escaping @Sendable (ItemKeychain, @escaping ItemKeychain.Waiting, CallCancellation) throws -> Value,
        then: @escaping @MainActor (Value) -> Void, otherwise: @escaping @MainActor () -> Void = {},
        explaining: (@MainActor (String) -> Void)? = nil
    ) {
        guard running == nil, !isEnded else { return }
        let call = CallCancellation()
        running = call
        notice.clear()
        let keychain = keychain
        let waiting: ItemKeychain.Waiting = { place in
            MainLoop.post { [weak self] in self?.report("Waiting for your answer: \(place)", during: call) }
        }
        MainLoop.background {
            try work(keychain, waiting, call)
        } then: { [weak self] result in
            self?.finish(result, of: call, then: then, otherwise: otherwise, explaining: explaining)
        }
    }

    /// Cancels the current request and its prompt; the page stays.
    func withdraw() { running?.cancel() }

    private func report(_ text: String, during call: CallCancellation) {
        if running === call { notice.show(text) }
    }

    private func finish<Value>(
        _ result: Result<Value, any Error>, of call: CallCancellation, then: @MainActor (Value) -> Void,
        otherwise: @MainActor () -> Void, explaining: (@MainActor (String) -> Void)?
    ) {
        running = nil
        guard !isEnded else { return }
        notice.clear()
        switch result {
        case .success(let value): then(value)
        case .failure(let error):
            let explanation = Explanation(error)
            if explanation.isLocked { return locked() }
            let words = explanation.isCancelled || call.isCancelled ? "" : explanation.text
            if let explaining { return explaining(words) }
            otherwise()
            if !words.isEmpty { notice.show(words, isError: true) }
        }
    }

    /// Cancels the current request and its prompt.
    func end() {
        isEnded = true
        running?.cancel()
        running = nil
    }
}
