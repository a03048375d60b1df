import Glibc
import VaubanRefusal

extension Refusal {
    /// Returns the refusal for output that could not be written, such as "The secret". Call it before `errno` changes.
    static func notWritten(_ what: String) -> Refusal {
        Refusal(.unavailable, "\(what) could not be written to standard output\(errno == ENOSPC ? ": the disk is full" : "")")
    }
}
