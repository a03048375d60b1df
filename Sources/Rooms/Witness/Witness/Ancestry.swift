internal import VaubanLinuxHost

/// Who started a process, as far as the kernel tells.
enum Ancestor {
    case process(Int32, Descriptor)
    /// Whoever started it has ended, or cannot be told from one that took it in.
    case orphan

    /// The parent's number is read before and after its descriptor is made, while the child lives: so it was the parent's then. A
    /// parent of another session took the child in, or was left by it; which of the two cannot be told.
    init(of look: ProcessSnapshot) {
        let parent = look.status.parent
        guard parent > 1, let process = try? ProcessDescriptor.open(parent), let again = ProcessStatus(of: look.pid),
            again.parent == parent,
            ProcessDescriptor.isAlive(look.process), let above = ProcessStatus(of: parent), ProcessDescriptor.isAlive(process),
            !above.isFirst, above.session == again.session
        else { self = .orphan; return }
        self = .process(parent, process)
    }
}
