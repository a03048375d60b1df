import SimulatedHost
import Testing
import VaubanLinuxHost

/// Runs one way of replacing `state` with every fault, and checks what a kill and a power cut leave after every step. Errors are collected
/// by name, so that a flawed way can be shown to be detected.
struct WriteTrial {
    typealias Replace = @Sendable (SimulatedFolder, [UInt8]) throws(SystemError) -> Void

    private let replace: Replace
    private(set) var violations: Set<String> = []
    /// Every distinct disk that was left.
    private(set) var left: Set<DiskImage> = []
    private(set) var runs = 0, cuts = 0, images = 0
    /// The number of steps of an undisturbed run.
    private(set) var steps = 0

    init(_ replace: @escaping Replace) { self.replace = replace }

    var account: String { "\(runs) runs, \(cuts) instants, \(images) disks looked at" }

    /// Returns the run without a fault, and each kind of fault at each step.
    mutating func faults(_ start: DiskImage, _ bytes: [UInt8]) throws -> [SimulatedDisk.Fault?] {
        let disk = SimulatedDisk(start)
        disk.prepare()
        try replace(disk.root, bytes)
        steps = disk.steps
        return [nil] + (0..<steps + 2).flatMap { [.full(from: $0), .short(at: $0), .broken(at: $0), .readOnly(from: $0)] }
    }

    mutating func run(_ start: DiskImage, _ fault: SimulatedDisk.Fault?, writing bytes: [UInt8], allowed before: Set<[UInt8]?>) throws {
        let disk = SimulatedDisk(start)
        disk.prepare(fault, tracing: true)
        var thrown: SystemError?
        do throws(SystemError) { try replace(disk.root, bytes) } catch { thrown = error }
        runs += 1
        let trace = disk.trace
        for image in trace { try look(at: image, allowed: before.union([bytes]), wrong: "torn", or: "absent") }
        guard let last = trace.last else { return }
        switch thrown {
        case nil:
            try look(at: last, allowed: [bytes], wrong: "not durable when it returned", or: "not durable when it returned", isPlain: true)
        case let fault? where fault.isUnsure:
            if last.files["state"] != bytes { violations.insert("called unsure, and the new content does not stand") }
        case .some:
            try look(
                at: last, allowed: before, wrong: "changed by a write that failed", or: "changed by a write that failed", isPlain: true)
        }
    }

    private mutating func look(
        at image: DiskImage, allowed: Set<[UInt8]?>, wrong: String, or absent: String, isPlain: Bool = false
    ) throws {
        let survivors = try #require(image.survivors(max: 20_000), "there are too many disks to look at")
        cuts += 1
        images += survivors.count + 1
        left.insert(image)
        left.formUnion(survivors)
        for (index, disk) in ([image] + survivors).enumerated() {
            let shown = disk.files["state"]
            guard !allowed.contains(shown) else { continue }
            let name = shown == nil ? absent : wrong
            violations.insert(isPlain ? name : "\(name) after a \(index == 0 ? "kill" : "power cut")")
        }
    }
}
