import Glibc
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanKeychainWire
import VaubanRefusal
import VaubanUserModel

/// The rewrapping of items' keys under the newest class keys, batch by batch. Each batch is atomic, so the work can stop at any time and
/// continue later.
struct Rewrapping {
    private let client: ServiceClient
    private let progress = Progress()

    init(_ client: ServiceClient) { self.client = client }

    /// Rewraps all remaining keys, and reports the items that stay under older keys.
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

    /// Does the same without output, if older keys are still in use. `vauban status` reports what fails, and a later call continues.
    func runSilently() {
        guard let device = try? client.authentication.status().device, device.hasOlderKeys else { return }
        _ = try? batches { _, _ in }
    }

    private func batches(_ report: (_ done: Int, _ left: Int) -> Void) throws(Refusal) -> (done: Int, kept: Int) {
        var done = 0
        var idle = 0
        while true {
            let batch = try client.keychain.rewrap(waiting: nil)
            done += Int(batch.done)
            if batch.left == 0 { return (done, Int(batch.kept)) }
            // A row that another program is writing is left for the next batch; one that never succeeds is an error.
            idle = batch.done > 0 ? 0 : idle + 1
            guard idle < Self.idleBatchesMax else {
                throw Refusal(
                    .internalError, "\(batch.left) items could not be wrapped with the newest keys; try again: vauban passcode roll")
            }
            report(done, Int(batch.left))
        }
    }

    private static let idleBatchesMax = 3
}
