// Hardens a room: the simple measures and secret memory before it reads a byte; Landlock and the system call filter after it has opened its
// files and before a client connects. RoomProfile and Specs/hardening.md list the permissions of each room.

internal import CVaubanConfinement
import Glibc
package import VaubanLinuxHost

package struct RoomHardening {
    private let profile: RoomProfile
    private let without: Set<HardeningFeature>
    private var missing: Set<HardeningFeature> = []
    /// The newest version of Landlock to use. Tests lower it to simulate an older kernel.
    package var landlockVersionMax = Int32.max

    /// Applies the simple measures, and sets up secret memory if the room holds secrets. Must be called before the first secret. Test
    /// programs pass the features to omit in `without`.
    package init(_ profile: RoomProfile, without: Set<HardeningFeature> = []) throws(SystemError) {
        self.profile = profile
        self.without = without
        try ProcessHardening.apply()
        guard profile.holdsSecrets else { return }
        missing = SecretArena.hold(without: without).missing
    }

    /// The features that this kernel lacks, of Landlock and the system call filter.
    package static var lackedByKernel: Set<HardeningFeature> {
        var lacked: Set<HardeningFeature> = []
        if vauban_landlock_version() <= 0 { lacked.insert(.landlock) }
        if !vauban_can_filter_calls() { lacked.insert(.seccomp) }
        return lacked
    }

    /// Confines the room, with its state folder if it has one. Must be called while there is one thread, since the restrictions bind this
    /// thread and those that it starts. `alsoReads` names further files, of this process's user or of the system. A program that connects
    /// to other machines reaches only `ports` over TCP, or all if that is nil. Returns what this machine lacks, as sentences for the user.
    package func confine(
        state: PrivateFolder? = nil, alsoReads: [String] = [], connectingTo ports: [UInt16]? = nil
    ) throws(SystemError) -> [String] {
        guard try ProcessHardening.number(of: "Threads") == 1 else {
            throw SystemError("confine the process, because it has threads already", code: EBUSY)
        }
        // The time zone for log lines is read here, since its file cannot be read after this.
        tzset()
        let lacked = Self.lackedByKernel.union(without)
        var missing = missing
        if let files = profile.files {
            if lacked.contains(.landlock) {
                missing.insert(.landlock)
            } else {
                try restrict(reads: files.reads + alsoReads, state: state, ports: ports)
            }
        }
        if lacked.contains(.seccomp) { missing.insert(.seccomp) } else { try filter() }
        return HardeningFeature.allCases.filter(missing.contains).map { profile.loss(of: $0) }
    }

    private func restrict(reads: [String], state: PrivateFolder?, ports: [UInt16]?) throws(SystemError) {
        let version = min(vauban_landlock_version(), landlockVersionMax)
        let handled = LandlockRights.known(to: version)
        var rules: [vauban_landlock_rule] = []
        if let state {
            rules.append(
                vauban_landlock_rule(descriptor: state.descriptor.number, rights: LandlockRights.keep.intersection(handled).rawValue))
        }
        for path in reads {
            // The descriptor is never closed: a file in /proc may be created again under the same name once it is not open, and a rule
            // applies only to the opened one.
            let place = try Descriptor.place(path)
            let number = try SystemError.check(fcntl(place.number, F_DUPFD_CLOEXEC, 3), "hold \(path)")
            withExtendedLifetime(place) {}
            rules.append(vauban_landlock_rule(descriptor: number, rights: LandlockRights.readFile.rawValue))
        }
        // The rights to bind and to connect TCP.
        let network: UInt64 = version >= 4 ? (profile.connectsOut && ports == nil ? 0b01 : 0b11) : 0
        let reachable = version >= 4 && profile.connectsOut ? ports ?? [] : []
        let scopes: UInt64 = version >= 6 ? 0b11 : 0
        try SystemError.checkNegated(
            vauban_landlock_restrict(
                handled.rawValue, network, scopes, rules, Int32(rules.count), reachable, Int32(reachable.count)),
            "restrict the process by Landlock")
    }

    private func filter() throws(SystemError) {
        var names: [UnsafeMutablePointer<CChar>?] = []
        defer { for name in names { free(name) } }
        var rules: [vauban_call_rule] = []
        for rule in profile.calls {
            let name = strdup(rule.call)
            names.append(name)
            rules.append(rule.shape(named: name))
        }
        try SystemError.checkNegated(vauban_filter_calls(rules, Int32(rules.count)), "filter the process's system calls")
    }
}

/// LANDLOCK_ACCESS_FS_*, defined here since the headers may be older than the kernel.
struct LandlockRights: OptionSet {
    let rawValue: UInt64
    static let writeFile = LandlockRights(rawValue: 1 << 1)
    static let readFile = LandlockRights(rawValue: 1 << 2)
    static let readFolder = LandlockRights(rawValue: 1 << 3)
    static let removeFile = LandlockRights(rawValue: 1 << 5)
    static let makeFolder = LandlockRights(rawValue: 1 << 7)
    static let makeFile = LandlockRights(rawValue: 1 << 8)
    static let truncate = LandlockRights(rawValue: 1 << 14)

    /// The rights of a room in its state folder: no program, socket, link or device.
    static let keep: LandlockRights = [.writeFile, .readFile, .readFolder, .removeFile, .makeFolder, .makeFile, .truncate]

    /// Returns all rights that a version can deny. Bits 0 to 12 are in the first version; the second, third and fifth added one each:
    /// moving to other folders, truncating, and device controls.
    static func known(to version: Int32) -> LandlockRights {
        var bits = 13
        if version >= 2 { bits += 1 }
        if version >= 3 { bits += 1 }
        if version >= 5 { bits += 1 }
        return LandlockRights(rawValue: (1 << UInt64(bits)) - 1)
    }
}
