internal import CVaubanConfinement

/// What a secret leaves behind where nobody owns it any more. Freed blocks are overwritten by the room's allocator
/// (CVaubanConfinement); the stack is overwritten by the thread itself, when it has worked on secrets and before it says so.
package enum ScratchMemory {
    /// Overwrites the stack beneath the caller, in which the libraries that it called kept keys and what they made of them.
    package static func scrubStack() { vauban_overwrite_stack() }
}
