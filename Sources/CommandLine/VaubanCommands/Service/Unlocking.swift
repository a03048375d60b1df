// Unlocks the keychain at the terminal: by a fingerprint if that is allowed, and by the passcode.

import Foundation
import Synchronization
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanLinuxHost
import VaubanRefusal
import VaubanUserModel

extension ServiceClient {
    static let triesMax = 3

    /// Unlocks the keychain. Prompts again only after a wrong passcode, and throws every other refusal.
    func unlock(on terminal: Terminal) throws {
        let device = try authentication.status().device
        if device.biometry.isReady && device.biometry.unlocks, try unlockByFinger(on: terminal) { return }
        // A passcode would not be compared before.
        if device.secondsToWait > 0 { throw Refusal(.lockedOut, secondsToWait: device.secondsToWait) }
        for attempt in 1...Self.triesMax {
            guard let wrong = try tryOnce(on: terminal) else { return }
            if attempt == Self.triesMax || wrong.attemptsLeft == 0 { throw wrong }
            terminal.write("\(PromptWords.wrongPasscode(attemptsLeft: wrong.attemptsLeft))\n")
        }
    }

    /// Makes one attempt. Returns the refusal of a wrong passcode and throws any other.
    private func tryOnce(on terminal: Terminal) throws(Refusal) -> Refusal? {
        let passcode = try PasscodeInput.ask("Passcode (\(TerminalPrompt.cancelHint)): ", on: terminal)
        do throws(Refusal) {
            try authentication.unlock(passcode)
            return nil
        } catch {
            guard error.reason == .authenticationFailed else { throw error }
            return error
        }
    }

    /// Returns whether a fingerprint unlocked the keychain; otherwise the passcode is needed.
    private func unlockByFinger(on terminal: Terminal) throws -> Bool {
        let call = try FingerCall()
        call.begin(authentication)
        switch terminal.awaitKey(
            "Touch the fingerprint reader, or press Return to type your Vauban passcode: ", takesReturn: true, withdrawal: call)
        {
        case .withdrawn: break
        case .enter:
            // The reader may have finished first.
            return call.end() == nil
        case .cancel:
            _ = call.end()
            throw Refusal(.cancelled)
        }
        guard let refusal = call.end() else { return true }
        terminal.write("\(refusal.message)\n")
        return false
    }
}

/// An unlock by fingerprint that runs beside the terminal, since the user may type the passcode instead.
private final class FingerCall: Withdrawal, Sendable {
    private let done: Wakeup
    private let cancellation = CallCancellation()
    private let outcome = Mutex<Result<Void, Refusal>?>(nil)
    private let ended = DispatchSemaphore(value: 0)

    init() throws(SystemError) { done = try Wakeup() }

    var descriptor: Descriptor { done.descriptor }

    func begin(_ authentication: AuthenticationClient) {
        let thread = Thread { [self] in
            let result = Result { () throws(Refusal) in try authentication.unlockByFinger(cancellation: cancellation) }
            outcome.withLock { $0 = result }
            done.signal()
            ended.signal()
        }
        thread.stackSize = 1 << 19
        thread.start()
    }

    func isWithdrawn() -> Bool { outcome.withLock { $0 != nil } }

    /// Ends the call if it still runs, and returns why it did not unlock, or nil if it did. Call this once.
    func end() -> Refusal? {
        if !isWithdrawn() { cancellation.cancel() }
        ended.wait()
        return outcome.withLock { outcome in
            switch outcome {
            case .success: nil
            case .failure(let refusal): refusal
            case nil: Refusal(.cancelled)
            }
        }
    }
}
