import Glibc
import VaubanJSON
import VaubanRefusal
import VaubanSecretBytes
import VaubanSecretText

extension SecretJSON {
    /// Closes the object and writes it with a newline to standard output.
    ///
    /// - Throws: `unavailable` if it could not be written completely.
    func write() throws(Refusal) {
        let isWritten = finished(ending: "\n").secret.withUnsafeBytes { writeAll($0, to: STDOUT_FILENO) }
        guard isWritten else { throw Refusal.notWritten("The credential") }
    }
}
