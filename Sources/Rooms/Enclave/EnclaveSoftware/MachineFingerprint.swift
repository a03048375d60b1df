// Detects whether this is still the machine on which the device secret was created. A cloned machine has the same device secret, so two
// machines can open what only one should, and nothing else would detect that (Specs/state-files.md).

internal import Crypto
package import VaubanLinuxHost

/// The file `machine` beside the device secret: a line that names the format, then a hexadecimal digest of the machine ID; never the ID
/// itself, which must not be disclosed (machine-id(5)).
package enum MachineFingerprint {
    package static let name = "machine"
    private static let heading = "vauban machine 1\n"
    private static let label = "vauban machine-id v1"
    private static let bytesMax = 256

    /// Returns the machine ID in the text of `/etc/machine-id`; nil if it is missing or not initialized yet (`uninitialized`).
    package static func identifier(_ text: String?) -> String? {
        guard let text else { return nil }
        let word = text.hasSuffix("\n") ? String(text.dropLast()) : text
        guard word.utf8.count == 32, word.utf8.allSatisfy(isDigit) else { return nil }
        return word.utf8.allSatisfy { $0 == 0x30 } ? nil : word
    }

    /// Compares the machine with the file, or creates the file. Returns a warning for the user if this is another machine. Must be called
    /// after the device secret exists. `text` is the content of `/etc/machine-id`.
    package static func warning(in folder: some StateFolder, machineID text: String?) -> String? {
        guard let identifier = identifier(text) else { return nil }
        let content = heading + digest(of: identifier) + "\n"
        let file = DurableFile(name, in: folder)
        do throws(SystemError) {
            switch try file.read(max: bytesMax) {
            case .absent:
                // If the file cannot be written now, for instance on a full disk, the next start writes it.
                do throws(SystemError) { try file.replace(with: Array(content.utf8)) } catch { return nil }
                return nil
            case .bytes(let bytes):
                if bytes.elementsEqual(content.utf8) { return nil }
                guard bytes.starts(with: heading.utf8), bytes.count == content.utf8.count, bytes.last == UInt8(ascii: "\n"),
                    bytes.dropFirst(heading.utf8.count).dropLast().allSatisfy(isDigit)
                else { return unreadable(folder) }
                return copy(folder)
            }
        } catch {
            return unreadable(folder)
        }
    }

    /// Returns whether a byte is a lowercase hexadecimal digit.
    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) }

    private static func digest(of identifier: String) -> String {
        let digits = Array("0123456789abcdef")
        return SHA256.hash(data: Array(label.utf8) + [0] + Array(identifier.utf8))
            .reduce(into: "") { text, byte in text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
    }

    private static func copy(_ folder: some StateFolder) -> String {
        """
        this machine is a copy: its machine ID is not that of the machine where this keychain was made, so another machine may \
        hold the same device secret. If the original was moved or restored here, remove \(folder.path)/\(name) and restart \
        Vauban; if this is a clone, stop Vauban, remove its state and start over.
        """
    }

    private static func unreadable(_ folder: some StateFolder) -> String {
        "cannot tell whether this machine is a copy: \(folder.path)/\(name) is unreadable, or a later version wrote it."
    }
}
