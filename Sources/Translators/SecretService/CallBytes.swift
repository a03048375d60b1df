internal import VaubanLinuxHost

/// Bytes of a memory that is shared: each share takes at most a part of it.
package struct SharedBytes<Share: Hashable & Sendable>: Sendable {
    private let ofShareMax: Int
    private let allMax: Int
    private var taken: [UInt64: (bytes: Int, share: Share)] = [:]
    private var ofShares: [Share: Int] = [:]
    private var all = 0

    /// A memory of `allMax` bytes, of which one share takes at most `ofShareMax`.
    package init(ofShareMax: Int, allMax: Int) { (self.ofShareMax, self.allMax) = (ofShareMax, allMax) }

    /// Takes bytes for a call. Returns false if the share has not that many left, or all shares together have not.
    package mutating func take(_ bytes: Int, call number: UInt64, for share: Share) -> Bool {
        let ofShare = ofShares[share, default: 0] + bytes
        guard ofShare <= ofShareMax, all + bytes <= allMax else { return false }
        taken[number] = (bytes, share)
        ofShares[share] = ofShare
        all += bytes
        return true
    }

    /// Gives back what a call took, if it took something.
    package mutating func giveBack(call number: UInt64) {
        guard let (bytes, share) = taken.removeValue(forKey: number) else { return }
        let left = ofShares[share, default: 0] - bytes
        ofShares[share] = left == 0 ? nil : left
        all -= bytes
    }
}

/// The bytes of calls that have no reply yet. A call stays in memory until then, in the queue, on its thread, and while it waits for the
/// user.
final class CallBytes: Sendable {
    private let state = ThreadMutex(
        SharedBytes<ClientShare>(
            ofShareMax: SecretServiceLimits.callBytesOfShareMax, allMax: SecretServiceLimits.callBytesOfAllMax))

    /// Returns false if the call is one too many.
    func take(_ call: BusCall, for share: ClientShare) -> Bool {
        state.withLock { $0.take(call.bytes, call: call.number, for: share) }
    }

    /// Gives back the bytes of a call that a message answers.
    func sends(_ outgoing: BusOutgoing) {
        switch outgoing {
        case .reply(let number, _), .failure(let number, _): state.withLock { $0.giveBack(call: number) }
        case .signal, .call: break
        }
    }
}
