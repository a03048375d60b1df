import Glibc
internal import Logging
internal import VaubanLinuxHost
internal import VaubanRoomHardening

/// The program vauban-witness: `--enclave-folder DIR --enclave-uid N`, started by the launcher or by systemd.
package enum WitnessProgram {
    /// Whether this process sees its own executable, which root installed, as a file of root's.
    private static func seesInstalledPrograms() -> Bool {
        let number = open("/proc/self/exe", O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { return false }
        return FileSystem(of: Descriptor(number))?.isNosuid == false
    }

    package static func main() -> Never {
        let log = Logger(label: "vauban-witness", factory: { StreamLogHandler.standardError(label: $0) })
        do {
            let hardening = try RoomHardening(.witness)
            let words = Array(CommandLine.arguments.dropFirst())
            guard words.count == 4, words[0] == "--enclave-folder", words[2] == "--enclave-uid", let uid = try Roster.enclaveUID(words[3])
            else {
                log.critical("usage: vauban-witness --enclave-folder DIR --enclave-uid N|roster")
                exit(64)
            }
            if try Roster.isOfThisProcess(), !seesInstalledPrograms() {
                log.warning(
                    """
                    The file system of this program is mounted nosuid for it, so no program counts as installed, and programs do not get \
                    their items. If a drop-in of the unit has NoNewPrivileges=, remove it
                    """)
            }
            for sentence in try hardening.confine() { log.warning("\(sentence)") }
            WitnessRoom(enclave: ServerAddress(folder: words[1], socket: "enclave", serverUID: uid), log: log).run()
        } catch {
            log.critical("\(error)")
            exit(1)
        }
    }
}
