import Glibc
import VaubanLinuxHost

/// What was learnt at logins about one user's password, so that one that is not the passcode is tried once and not at
/// every login: a wrong try counts, durably, whoever makes it.
///
/// It lies in a folder that belongs to the user, in one that only root can change; the login module makes it. So it
/// survives a restart, needs no home that is mounted, and no file of the user's makes root write anywhere. The user's
/// own programs can delete it, and gain by it only tries, which they can use up anyway. It holds nothing that is made from
/// a password, since that would be one more thing to guess offline against.
struct LoginMemory {
    private static let parent = "/var/lib/vauban/login"
    private static let bytesMax = 64
    private let folder: PrivateFolder
    private var file: DurableFile { DurableFile("tried", in: folder) }

    enum Entry: Equatable {
        case nothing
        /// A try began, and how it ended is not known: this process was ended within it. With it stand the day of the password
        /// that was tried, and the date of the last wrong try before it, of any kind (nil where there was none).
        case trying(passwordDay: Int64?, lastWrong: Int64?)
        /// It cannot be read: how a try ended is not known, nor what it was of.
        case unreadable
        /// The password that was last changed on this day (as in the shadow file; nil where that cannot be known) is not
        /// the passcode.
        case differs(passwordDay: Int64?)
    }

    /// Nil where the login module has made no place to remember.
    init?() {
        guard let folder = try? PrivateFolder(path: "\(Self.parent)/\(geteuid())", creating: false) else { return nil }
        self.folder = folder
    }

    /// For this process until it ends; nil when another login of the user is trying.
    func turn() throws(SystemError) -> Descriptor? { try folder.lock() }

    func entry() -> Entry {
        guard let content = try? file.read(max: Self.bytesMax) else { return .unreadable }
        guard case .bytes(let bytes) = content else { return .nothing }
        let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: { $0 == " " || $0 == "\n" })
        switch (words.first, words.count) {
        case ("differs", 2): return .differs(passwordDay: Int64(words[1]))
        case ("trying", 3): return .trying(passwordDay: Int64(words[1]), lastWrong: Int64(words[2]))
        default: return .unreadable
        }
    }

    func keep(_ entry: Entry) throws(SystemError) {
        switch entry {
        case .nothing, .unreadable: folder.remove(file.name)
        case .trying(let day, let date): try file.replace(with: Array("trying \(Self.word(day)) \(Self.word(date))\n".utf8))
        case .differs(let day): try file.replace(with: Array("differs \(Self.word(day))\n".utf8))
        }
    }

    private static func word(_ number: Int64?) -> String { number.map(String.init) ?? "unknown" }

    /// After another passcode was set, the next login tries its password again.
    static func forget() { try? LoginMemory()?.keep(.nothing) }
}
