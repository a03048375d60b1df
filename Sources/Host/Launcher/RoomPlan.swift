internal import VaubanLinuxHost

/// The programs that differ between the installed launcher and the one for tests.
package struct RoomPrograms: Sendable {
    let enclave: String
    let keychain: String
    /// The name of a file in the service's folder from which both take their clocks.
    let clock: String?
    /// The watcher's program, and the words that it gets beyond every attendant's.
    let watcher: [String]

    package static let installed = RoomPrograms(enclave: "enclaved", keychain: "keychaind", clock: nil, watcher: ["vauban-watcher"])

    package init(enclave: String, keychain: String, clock: String?, watcher: [String]) {
        self.enclave = enclave
        self.keychain = keychain
        self.clock = clock
        self.watcher = watcher
    }
}

/// How one room or attendant is started.
struct RoomPlan: Sendable {
    let program: String
    let arguments: [String]
    /// The name of its socket, both in the folder of sockets and to the room; witness and watcher have none, since they only dial.
    let socket: String?

    /// The rooms of user mode, in the order in which they start. Each learns only its own folder and where the enclave is.
    static func all(_ programs: RoomPrograms, home: String, sockets: String, uid: UInt32) -> [RoomPlan] {
        let clock = programs.clock.map { ["--clock", "\(home)/\($0)"] } ?? []
        let dials = ["--enclave-folder", sockets, "--enclave-uid", "\(uid)"]
        return [
            RoomPlan(program: programs.enclave, arguments: clock + ["--state", "\(home)/\(enclaveFolder)"], socket: "enclave"),
            RoomPlan(
                program: programs.keychain, arguments: clock + ["--state", "\(home)/\(keychainFolder)"] + dials, socket: "keychain"),
            RoomPlan(program: "authd", arguments: dials, socket: "authentication"),
            RoomPlan(program: "vauban-witness", arguments: dials, socket: nil),
        ] + programs.watcher.prefix(1).map { RoomPlan(program: $0, arguments: dials + programs.watcher.dropFirst(), socket: nil) }
    }

    static let enclaveFolder = "enclave"
    static let keychainFolder = "keychain"
    static let stateFolders = [enclaveFolder, keychainFolder]
}
