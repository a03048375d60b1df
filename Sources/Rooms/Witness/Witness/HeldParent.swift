internal import EnclaveWire
import Glibc
internal import VaubanLinuxHost

/// A process above a program, held by its descriptor while its path and its own parent are read. For the access log alone: no decision
/// depends on it (Specs/caller-identity.md).
struct HeldParent {
    private let pid: Int32
    private let process: Descriptor
    /// The path of the file that it executes; nil if that cannot be read.
    private let path: String?

    /// Returns the paths of up to `CallerIdentity.parentsMax` processes above one, the nearest first, with an empty text for one whose path
    /// cannot be read. Ends before process 1, and where a process ends or executes another program meanwhile.
    static func paths(above pid: Int32, heldBy process: Descriptor) -> [String] {
        var paths: [String] = []
        var next = HeldParent(of: pid, heldBy: process)
        while let parent = next {
            paths.append(parent.path ?? "")
            guard paths.count < CallerIdentity.parentsMax, let above = HeldParent(of: parent.pid, heldBy: parent.process),
                parent.isUnchanged
            else { break }
            next = above
        }
        return paths
    }

    /// Reads the parent's number before and after its descriptor is opened, while the child lives, so it was the parent's then; and the
    /// path while the parent lives, so it is the parent's. Nil if the parent is process 1, or cannot be seen.
    private init?(of child: Int32, heldBy process: Descriptor) {
        guard let parent = ProcessStatus(of: child)?.parent, parent > 1, let held = try? ProcessDescriptor.open(parent),
            ProcessStatus(of: child)?.parent == parent, ProcessDescriptor.isAlive(process)
        else { return nil }
        let path = Self.path(of: parent)
        guard ProcessDescriptor.isAlive(held) else { return nil }
        pid = parent
        self.process = held
        self.path = path
    }

    private var isUnchanged: Bool { Self.path(of: pid) == path && ProcessDescriptor.isAlive(process) }

    /// Reads the kernel's link to the executed file, without the file itself: it may be on a file system that does not answer.
    private static func path(of pid: Int32) -> String? {
        var buffer = [UInt8](repeating: 0, count: CallerIdentity.linkBytesMax + 1)
        let count = readlink("/proc/\(pid)/exe", &buffer, buffer.count)
        guard count > 0, count < buffer.count else { return nil }
        return String(validating: buffer[..<count], as: UTF8.self)
    }
}
