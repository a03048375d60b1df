internal import CVaubanConfinement

/// Erases secrets that remain in unowned memory. The room's allocator (CVaubanConfinement) overwrites freed blocks; each thread overwrites
/// its stack after working with secrets and before it replies.
package enum ScratchMemory {
    /// Overwrites the stack below the caller, where the libraries that it called left keys and values derived from them.
    package static func scrubStack() { vauban_scrub_stack() }
}
