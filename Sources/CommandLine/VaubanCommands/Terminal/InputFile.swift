import Glibc
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes

/// A file that holds secrets, or standard input (`-`), read whole into zeroing memory.
enum InputFile {
    static func read(_ path: String, max: Int) throws(Refusal) -> SecretBytes {
        let number = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { throw Refusal(.badParameter, SystemError("open \(SafeText.visible(path))", code: errno).sentence) }
        let file = Descriptor(number)
        do { return try SecretReader.everything(from: file.number, max: max, keepsNewline: true) } catch {
            let refusal = error as? Refusal
            if refusal?.reason == .dataTooLarge { throw Refusal(.badParameter, "The file is larger than \(max >> 20) MiB") }
            throw Refusal(.badParameter, refusal?.detail ?? "The file cannot be read")
        }
    }
}
