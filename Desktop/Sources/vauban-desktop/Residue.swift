import CGtk
import CVaubanConfinement

/// What secrets leave in this process's memory. Freed memory is erased at once, also GTK's, since CVaubanConfinement replaces `free`.
@MainActor enum Residue {
    /// Overwrites the stack below this function a moment later, when GTK has drawn the window without the secret.
    static func erase() {
        vauban_scrub_stack()
        MainLoop.post { vauban_scrub_stack() }
    }
}
