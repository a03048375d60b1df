import Glibc
package import VaubanLinuxHost

/// What earlier logins showed about one user's password, so that a password that is not the passcode is tried once and not at every login:
/// each wrong attempt counts, durably, whichever program makes it.
///
/// The record is in a folder that belongs to the user, within one that only root can change; the login module creates it. It therefore
/// survives a restart, needs no mounted home, and no file of the user can redirect a write of root. The user's own programs can delete it,
/// which only causes additional attempts, and they can use up attempts anyway. It contains nothing derived from a password, which would
/// allow offline guesses.
package struct LoginMemory {
    private static let parent = "/var/lib/vauban/login"
    private static let bytesMax = 64
    private static let serviceBytesMax = 32
    private let folder: PrivateFolder
    private var file: DurableFile { DurableFile("tried", in: folder) }

    package enum Entry: Equatable {
        case nothing
        /// An attempt began and its result is unknown, because the process ended during it. Recorded with the day of the password that was
        /// tried and the date of the last wrong attempt of any kind before it (nil if there was none).
        case trying(passwordDay: Int64?, lastWrong: Int64?)
        /// The record is unreadable: neither the result of an attempt nor its password is known.
        case unreadable
        /// The password that was last changed on this day (as in the shadow file; nil if unknown) is not the passcode. Names the one PAM
        /// service whose login tried it, since that may have passed on another secret, such as the PIN of a smart card; nil for all
        /// services.
        case differs(passwordDay: Int64?, service: String?)
    }

    /// Returns nil if the login module has not created the folder.
    init?() {
        guard let folder = try? PrivateFolder(path: "\(Self.parent)/\(geteuid())", creating: false) else { return nil }
        self.init(in: folder)
    }

    package init(in folder: PrivateFolder) { self.folder = folder }

    /// Returns a lock that this process holds until it ends, or nil if another login of the user is attempting.
    func turn() throws(SystemError) -> Descriptor? { try folder.lock() }

    package func entry() -> Entry {
        guard let content = try? file.read(max: Self.bytesMax) else { return .unreadable }
        guard case .bytes(let bytes) = content else { return .nothing }
        let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: { $0 == " " || $0 == "\n" })
        switch (words.first, words.count) {
        // Earlier versions recorded no service.
        case ("differs", 2): return .differs(passwordDay: Int64(words[1]), service: nil)
        case ("differs", 3): return .differs(passwordDay: Int64(words[1]), service: String(words[2]))
        case ("trying", 3): return .trying(passwordDay: Int64(words[1]), lastWrong: Int64(words[2]))
        default: return .unreadable
        }
    }

    func keep(_ entry: Entry) throws(SystemError) {
        switch entry {
        case .nothing, .unreadable: folder.remove(file.name)
        case .trying(let day, let date): try file.replace(with: Array("trying \(Self.word(day)) \(Self.word(date))\n".utf8))
        case .differs(let day, let service):
            let words = ["differs", Self.word(day)] + [service].compactMap(\.self)
            try file.replace(with: Array("\(words.joined(separator: " "))\n".utf8))
        }
    }

    /// Returns the name of a PAM service if the record can contain it; otherwise the record counts for all services.
    static func recordableService(_ name: String?) -> String? {
        name.flatMap { name in
            let isPlain = name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
            return isPlain && (1...serviceBytesMax).contains(name.utf8.count) ? name : nil
        }
    }

    private static func word(_ number: Int64?) -> String { number.map(String.init) ?? "unknown" }

    /// Deletes the record after a passcode was set, so that the next login tries its password again.
    package static func forget() { try? LoginMemory()?.keep(.nothing) }
}
