// Whether this is still the machine on which the device secret was made. A clone of a machine has the same device secret,
// so what only one machine should open two can; nobody would notice without this (Specs/state-files.md).

internal import Crypto
package import VaubanLinuxHost

/// The file `machine` beside the device secret: a line that names the format, then in hexadecimal a digest of the machine's
/// id, never the id itself, which its makers ask not to be spread.
package enum MachineFingerprint {
    package static let name = "machine"
    private static let heading = "vauban machine 1\n"
    private static let label = "vauban machine-id v1"
    private static let bytesMax = 256

    /// The machine's id by the text of `/etc/machine-id`; nil where there is none, or none yet (`uninitialized`).
    package static func identifier(_ text: String?) -> String? {
        guard let text else { return nil }
        let word = text.hasSuffix("\n") ? String(text.dropLast()) : text
        guard word.utf8.count == 32, word.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }) else { return nil }
        return word.utf8.allSatisfy { $0 == 0x30 } ? nil : word
    }

    /// Compares, or leaves the mark where there is none yet. Answers a sentence for the user when this machine is not the
    /// one of the mark. To be called when the device secret is there. `text` is that of `/etc/machine-id`.
    package static func warning(in folder: some StateFolder, machineID text: String?) -> String? {
        guard let identifier = identifier(text) else { return nil }
        let content = heading + digest(of: identifier) + "\n"
        let file = DurableFile(name, in: folder)
        do throws(SystemError) {
            switch try file.read(max: bytesMax) {
            case .absent:
                // A mark that cannot be written now, on a full disk, is written at the next start.
                do throws(SystemError) { try file.replace(with: Array(content.utf8)) } catch { return nil }
                return nil
            case .bytes(let bytes):
                if bytes.elementsEqual(content.utf8) { return nil }
                guard bytes.starts(with: heading.utf8), bytes.count == content.utf8.count else { return unreadable(folder) }
                return copy(folder)
            }
        } catch {
            return unreadable(folder)
        }
    }

    private static func digest(of identifier: String) -> String {
        let digits = Array("0123456789abcdef")
        return SHA256.hash(data: Array(label.utf8) + [0] + Array(identifier.utf8))
            .reduce(into: "") { text, byte in text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
    }

    private static func copy(_ folder: some StateFolder) -> String {
        """
        this machine is a copy: its machine-id is not the one that this keychain was made on, and another machine may hold the same \
        device secret. If this is that machine, moved or restored, remove \(folder.path)/\(name) and restart Vauban; if it is a clone, \
        stop Vauban, remove its state and begin anew.
        """
    }

    private static func unreadable(_ folder: some StateFolder) -> String {
        "whether this machine is a copy cannot be told: \(folder.path)/\(name) cannot be read, or a later version wrote it."
    }
}
