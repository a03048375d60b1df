import Glibc
import Synchronization
import VaubanLinuxHost

/// A disk for tests. It does what `StateFolder` requests, injects faults, keeps its image after every step, and restores any image: a
/// killed process is an image of the trace, and a power cut one of its survivors.
package final class SimulatedDisk: Sendable {
    /// A fault at a numbered step, counted from 0 since `prepare`. A step is one call that may change the disk: create, write, sync of a
    /// file or folder, rename, remove, creating a folder.
    package enum Fault: Sendable, Hashable {
        /// From this step on there is no space (ENOSPC). The first write stores half of its bytes, as on a real disk.
        case full(from: Int)
        /// This step, if it is a write, stores half of its bytes and succeeds.
        case short(at: Int)
        /// This step fails (EIO) and changes nothing; a failed sync makes nothing durable.
        case broken(at: Int)
        /// From this step on nothing can be changed (EROFS), and no further changes become durable.
        case readOnly(from: Int)
        /// No file can be read (EIO).
        case unreadable
    }

    fileprivate struct State {
        var image: DiskImage
        var fault: Fault?
        var steps = 0
        var isTracing = false
        var trace: [DiskImage] = []
        var hasBeenShort = false
    }

    private let state: Mutex<State>

    package init(_ image: DiskImage = DiskImage()) { state = Mutex(State(image: image)) }

    package var root: SimulatedFolder { SimulatedFolder(disk: self, node: 0, path: "") }

    /// The kernel's present state. Setting another image invalidates folders opened before.
    package var image: DiskImage {
        get { state.withLock { $0.image } }
        set { state.withLock { $0.image = newValue } }
    }

    /// Resets the step count and sets a fault. With `tracing`, keeps every image from here on.
    package func prepare(_ fault: Fault? = nil, tracing: Bool = false) {
        state.withLock { state in
            state.fault = fault
            state.steps = 0
            state.hasBeenShort = false
            state.isTracing = tracing
            state.trace = tracing ? [state.image] : []
        }
    }

    /// The number of steps since `prepare`, failed ones included.
    package var steps: Int { state.withLock { $0.steps } }

    /// The images before the first step and after each: where a process can be killed.
    package var trace: [DiskImage] { state.withLock { $0.trace } }
}

/// The kinds of steps that faults distinguish.
enum Step { case making, writing, syncing, removing }

extension SimulatedDisk {
    func withImage<Value>(_ body: (DiskImage) -> Value) -> Value { state.withLock { body($0.image) } }

    func throwIfUnreadable(_ name: String) throws(SystemError) {
        if state.withLock({ $0.fault }) == .unreadable { throw SystemError("read \(name)", code: EIO) }
    }

    /// Performs one step, or makes it fail.
    func step<Value>(
        _ kind: Step, name: String, failing: (inout DiskImage) -> Void = { _ in },
        body: (inout DiskImage) throws(SystemError) -> Value
    ) throws(SystemError) -> Value {
        try state.withLock { (state) throws(SystemError) -> Value in
            defer { state.end() }
            if let code = state.code(kind) {
                failing(&state.image)
                throw SystemError("change \(name)", code: code)
            }
            return try body(&state.image)
        }
    }

    /// A write, which may store less than it is given.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int, to node: Int) throws(SystemError) -> Int {
        try state.withLock { (state) throws(SystemError) -> Int in
            defer { state.end() }
            var taken = bytes
            if state.fault == .short(at: state.steps), bytes.count > 1 {
                taken = UnsafeRawBufferPointer(rebasing: bytes.prefix(bytes.count / 2))
            }
            if let code = state.code(.writing) {
                guard code == ENOSPC, !state.hasBeenShort, bytes.count > 1 else { throw SystemError("write", code: code) }
                state.hasBeenShort = true
                taken = UnsafeRawBufferPointer(rebasing: bytes.prefix(bytes.count / 2))
            }
            state.image.update(node) { file in
                if file.shown.count < offset { file.shown += [UInt8](repeating: 0, count: offset - file.shown.count) }
                file.shown.replaceSubrange(offset..<min(offset + taken.count, file.shown.count), with: taken)
                file.isDirty = true
            }
            return taken.count
        }
    }
}

extension SimulatedDisk.State {
    fileprivate func code(_ kind: Step) -> Int32? {
        switch fault {
        case .full(let first) where steps >= first && (kind == .making || kind == .writing): ENOSPC
        case .broken(let number) where steps == number: EIO
        case .readOnly(let first) where steps >= first && (kind != .syncing || !image.isDurable): EROFS
        default: nil
        }
    }

    fileprivate mutating func end() {
        steps += 1
        if isTracing { trace.append(image) }
    }
}
