import VaubanRefusal
import VaubanSyncModel

/// One pass over the files of several devices. If one device's files cannot be read, the others still count; the pass fails only if nothing
/// could be read.
struct CarrierReading {
    private var reads = 0
    private(set) var faults: [(device: CircleMember, refusal: Refusal)] = []

    /// Returns what `body` reads of a device; nil if that does not exist, or this device's files cannot be read.
    mutating func read<Value>(of device: CircleMember, _ body: () throws(Refusal) -> Value?) throws(Refusal) -> Value? {
        guard !faults.contains(where: { $0.device == device }) else { return nil }
        do throws(Refusal) {
            let value = try body()
            reads += 1
            return value
        } catch {
            guard [.unavailable, .badParameter].contains(error.reason) else { throw error }
            faults.append((device, error))
            return nil
        }
    }

    /// Throws the first fault if nothing could be read.
    func requireSomething() throws(Refusal) {
        if let fault = faults.first, reads == 0 { throw fault.refusal }
    }
}
