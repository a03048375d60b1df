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
        let name = path == "-" ? "Standard input" : SafeText.visible(path)
        do { return try SecretReader.everything(from: file.number, max: max, keepsNewline: true) } catch {
            let isTooLarge = (error as? Refusal)?.reason == .dataTooLarge
            let size = max >= 1 << 20 ? "\(max >> 20) MiB" : "\(max) bytes"
            throw Refusal(.badParameter, isTooLarge ? "\(name) is larger than \(size)" : "\(name) cannot be read; is it a file?")
        }
    }
}
