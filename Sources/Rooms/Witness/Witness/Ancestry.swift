internal import VaubanLinuxHost

/// The parent of a process, as far as the kernel tells.
enum Ancestor {
    case process(Int32, Descriptor)
    /// The parent has exited, or cannot be distinguished from a process that adopted the child.
    case orphan

    /// Reads the parent's number before and after its descriptor is opened, while the child lives, so it was the parent's then. A parent of
    /// another session either adopted the child or was left by it; which of the two is unknown.
    init(of snapshot: ProcessSnapshot) {
        let parent = snapshot.status.parent
        guard parent > 1, let process = try? ProcessDescriptor.open(parent), let again = ProcessStatus(of: snapshot.pid),
            again.parent == parent,
            ProcessDescriptor.isAlive(snapshot.process), let above = ProcessStatus(of: parent), ProcessDescriptor.isAlive(process),
            !above.isFirst, above.session == again.session
        else { self = .orphan; return }
        self = .process(parent, process)
    }
}
