// The states of a prompt as a value, separate from sending and waiting.

import VaubanAccessPolicy
import VaubanUserModel

/// What a prompt offers to the user until it changes: one challenge, and the methods that answer it.
struct PromptRound: Sendable {
    let challenge: PasscodeChallenge
    let methods: AuthenticationMethods
    /// When the delay ends that excludes the passcode from this round; nil if there is none.
    var reopensAt: UInt64?
}

/// The state of a prompt:
///
///     preparing ──begin──► queued ──show──► shown ──end──► ended
///                           │ ▲              │ ▲
///                           └─┘ begin        └─┘ begin, awaitFinger, stopAwaitingFinger
///
/// `end` leads to `ended` from every state. A transition that a state does not have leaves it unchanged.
enum PromptPhase: Sendable {
    /// No round was sent yet.
    case preparing
    /// authd has the prompt, but the user does not see it: no evidence is accepted.
    case queued(PromptRound)
    /// The user sees the prompt. While the reader looks for a finger, `fingerNonce` is its challenge.
    case shown(PromptRound, fingerNonce: [UInt8]?)
    case ended(PromptOutcome)

    var round: PromptRound? {
        switch self {
        case .queued(let round), .shown(let round, _): round
        case .preparing, .ended: nil
        }
    }

    var isShown: Bool { if case .shown = self { true } else { false } }

    var fingerNonce: [UInt8]? { if case .shown(_, let nonce) = self { nonce } else { nil } }

    /// Replaces the round. A reader that looks for a finger continues.
    mutating func begin(_ round: PromptRound) {
        switch self {
        case .preparing, .queued: self = .queued(round)
        case .shown(_, let fingerNonce): self = .shown(round, fingerNonce: fingerNonce)
        case .ended: break
        }
    }

    mutating func show() {
        if case .queued(let round) = self { self = .shown(round, fingerNonce: nil) }
    }

    mutating func awaitFinger(_ nonce: [UInt8]) {
        if case .shown(let round, _) = self { self = .shown(round, fingerNonce: nonce) }
    }

    /// Ends the search for a finger. Returns the challenge at the reader, if there was one.
    @discardableResult
    mutating func stopAwaitingFinger() -> [UInt8]? {
        guard case .shown(let round, let nonce) = self else { return nil }
        self = .shown(round, fingerNonce: nil)
        return nonce
    }

    /// Removes the end of a delay after it was handled.
    mutating func clearReopening() {
        switch self {
        case .queued(var round):
            round.reopensAt = nil
            self = .queued(round)
        case .shown(var round, let fingerNonce):
            round.reopensAt = nil
            self = .shown(round, fingerNonce: fingerNonce)
        case .preparing, .ended: break
        }
    }

    /// Ends the prompt. Returns the challenges that are still open; nil if the prompt had already ended.
    mutating func end(_ outcome: PromptOutcome) -> (challenge: PasscodeChallenge?, fingerNonce: [UInt8]?)? {
        if case .ended = self { return nil }
        let open = (round?.challenge, fingerNonce)
        self = .ended(outcome)
        return open
    }
}
