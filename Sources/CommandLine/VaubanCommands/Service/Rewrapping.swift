import Glibc
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanKeychainWire
import VaubanRefusal
import VaubanUserModel

/// Wraps the items' keys by the newest class keys, batch by batch. Each batch is whole by itself, so that it can end at
/// any time and go on later.
struct Rewrapping {
    private let session: Session
    private let progress = Progress()

    init(_ session: Session) { self.session = session }

    /// Does all that is left, and says what stays under older keys.
    func run() throws(Refusal) {
        defer { progress.clear() }
        let (done, kept) = try batches { done, left in progress.show("Wrapping items with the new keys: \(done) of \(done + left)") }
        progress.clear()
        say("\(done) item\(done == 1 ? "" : "s") wrapped with the newest keys.")
        guard kept > 0 else { return }
        say(
            """
            \(kept) still use\(kept == 1 ? "s" : "") older keys: locked, set aside, or in need of your approval. To continue later: \
            vauban passcode roll
            """
        )
    }

    /// The same without a word, where older keys are still in use: what does not succeed now is told by status, and done
    /// later.
    func runSilently() {
        guard let device = try? session.authentication.status().device, device.hasOlderKeys else { return }
        _ = try? batches { _, _ in }
    }

    private func batches(_ tell: (_ done: Int, _ left: Int) -> Void) throws(Refusal) -> (done: Int, kept: Int) {
        var done = 0
        var idle = 0
        while true {
            let batch = try session.keychain.rewrap(waiting: nil)
            done += Int(batch.done)
            if batch.left == 0 { return (done, Int(batch.kept)) }
            // A row that another program writes at this moment waits for the next batch; one that never moves is a fault.
            idle = batch.done > 0 ? 0 : idle + 1
            guard idle < Self.idleBatchesMax else {
                throw Refusal(
                    .internalError, "\(batch.left) items could not be wrapped with the newest keys; try again: vauban passcode roll")
            }
            tell(done, Int(batch.left))
        }
    }

    private static let idleBatchesMax = 3
}
