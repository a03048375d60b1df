import CGtk
import CVaubanConfinement

/// What secrets leave behind in the memory of this process. Freed memory is erased at once, GTK's included, because CVaubanConfinement
/// replaces `free`.
@MainActor enum Residue {
    /// Overwrites the stack below this function, once GTK has drawn the window without the secret.
    static func erase() {
        vauban_scrub_stack()
        MainLoop.post { vauban_scrub_stack() }
    }
}
