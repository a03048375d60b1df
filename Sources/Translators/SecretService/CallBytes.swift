internal import VaubanLinuxHost

/// A memory budget that several shares draw from, each up to a limit.
package struct SharedBytes<Share: Hashable & Sendable>: Sendable {
    private let ofShareMax: Int
    private let allMax: Int
    private var taken: [UInt64: (bytes: Int, share: Share)] = [:]
    private var ofShares: [Share: Int] = [:]
    private var all = 0

    /// Creates a budget of `allMax` bytes, of which one share takes at most `ofShareMax`.
    package init(ofShareMax: Int, allMax: Int) { (self.ofShareMax, self.allMax) = (ofShareMax, allMax) }

    /// Takes bytes for a call. Returns false if the share or the whole budget has too few left.
    package mutating func take(_ bytes: Int, call number: UInt64, for share: Share) -> Bool {
        let ofShare = ofShares[share, default: 0] + bytes
        guard ofShare <= ofShareMax, all + bytes <= allMax else { return false }
        taken[number] = (bytes, share)
        ofShares[share] = ofShare
        all += bytes
        return true
    }

    /// Returns to the budget what a call took, if anything.
    package mutating func giveBack(call number: UInt64) {
        guard let (bytes, share) = taken.removeValue(forKey: number) else { return }
        let left = ofShares[share, default: 0] - bytes
        ofShares[share] = left == 0 ? nil : left
        all -= bytes
    }
}

/// The memory of calls without a reply. A call stays in memory until its reply: in the queue, on its thread, and while it waits for the
/// user.
final class CallBytes: Sendable {
    private let state = ThreadMutex(
        SharedBytes<ClientShare>(
            ofShareMax: SecretServiceLimits.callBytesOfShareMax, allMax: SecretServiceLimits.callBytesOfAllMax))

    /// Takes the bytes of a call. Returns false if they exceed a limit.
    func take(_ call: BusCall, for share: ClientShare) -> Bool {
        state.withLock { $0.take(call.bytes, call: call.number, for: share) }
    }

    /// Returns the bytes of the call that a message replies to.
    func sends(_ outgoing: BusOutgoing) {
        switch outgoing {
        case .reply(let number, _), .failure(let number, _): state.withLock { $0.giveBack(call: number) }
        case .signal, .call: break
        }
    }
}
