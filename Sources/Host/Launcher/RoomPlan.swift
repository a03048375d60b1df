internal import VaubanLinuxHost

/// The programs that differ between the installed launcher and the one for tests.
struct RoomPrograms: Sendable {
    let enclave: String
    let keychain: String
    /// The name of a file in the service's folder from which keychaind takes its clock.
    let clock: String?
}

/// How one room or attendant is started.
struct RoomPlan: Sendable {
    let program: String
    let arguments: [String]
    /// The name of its socket, both in the folder of sockets and to the room; the witness has none, since it only dials.
    let socket: String?

    /// The rooms of user mode, in the order in which they start. Each learns only its own folder and where the enclave is.
    static func all(_ programs: RoomPrograms, home: String, sockets: String, uid: UInt32) -> [RoomPlan] {
        let clock = programs.clock.map { ["--clock", "\(home)/\($0)"] } ?? []
        let dials = ["--enclave-folder", sockets, "--enclave-uid", "\(uid)"]
        return [
            RoomPlan(program: programs.enclave, arguments: ["--state", "\(home)/\(enclaveFolder)"], socket: "enclave"),
            RoomPlan(
                program: programs.keychain, arguments: clock + ["--state", "\(home)/\(keychainFolder)"] + dials, socket: "keychain"),
            RoomPlan(program: "authd", arguments: dials, socket: "authentication"),
            RoomPlan(program: "vauban-witness", arguments: dials, socket: nil),
        ]
    }

    static let enclaveFolder = "enclave"
    static let keychainFolder = "keychain"
    static let stateFolders = [enclaveFolder, keychainFolder]
}
