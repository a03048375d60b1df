import Glibc
internal import VaubanLinuxHost

/// People's names, which fprintd wants in the place of their numbers. To be made before the room shuts itself in: the modules of
/// the system's list of users are code, and no code can be loaded afterwards.
struct PeopleNames {
    init() {
        _ = name(of: geteuid())
        // A number that nobody has goes through all that the system asks.
        _ = name(of: UInt32.max - 1)
    }

    func name(of person: UInt32) -> String? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 1 << 16)
        guard getpwuid_r(person, &entry, &buffer, buffer.count, &found) == 0, found != nil, let name = entry.pw_name else { return nil }
        let text = String(cString: name)
        return text.isEmpty ? nil : text
    }
}
