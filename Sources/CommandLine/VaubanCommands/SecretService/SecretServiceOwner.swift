import Foundation
import Glibc
import VaubanLinuxHost
import VaubanRefusal

/// The process that owns the name of the Secret Service on the session bus, or one of KWallet's names.
struct SecretServiceOwner {
    private static let program = "vauban-secret-service"
    let process: Int32
    /// The kernel's name of the process: at most 15 bytes.
    let name: String

    var isVauban: Bool { name == String(Self.program.prefix(15)) }
    var words: String { "\(SafeText.visible(name)) (process \(process))" }

    /// Returns the owner, or nil if the name has none. Throws if there is no session bus.
    static func current() throws -> SecretServiceOwner? { try owner(["--owner"]) }

    /// Returns the owner of KWallet's names, or nil if they have none.
    static func ofWallets() throws -> SecretServiceOwner? { try owner(["--owner", "--kwallet"]) }

    private static func owner(_ options: [String]) throws -> SecretServiceOwner? {
        let program = try InstalledPrograms.path(of: Self.program)
        var pipe = try Pipe()
        // With an input, discard the child's error messages, so that a missing session bus is not reported.
        let nothing = Descriptor(try SystemError.check(open("/dev/null", O_RDONLY | O_CLOEXEC), "open /dev/null"))
        let child = try ChildCommand.spawn(program, [program] + options, input: nothing.number, output: pipe.writing?.number)
        pipe.endWriting()
        let said = SmallFile.bytes(of: pipe.reading, max: 256).flatMap { String(validating: $0, as: UTF8.self) } ?? ""
        let status = ChildCommand.waitForEnd(of: child)
        guard status == 0 else { throw Refusal(.unavailable, "No session bus is running; run this in a desktop session") }
        let words = (said.split(separator: "\n").first ?? "").split(separator: " ", maxSplits: 1)
        guard words.count == 2, let process = Int32(words[0]) else { return nil }
        return SecretServiceOwner(process: process, name: words[1].trimmingCharacters(in: .newlines))
    }
}
