internal import VaubanLinuxHost

/// How one room or attendant is started.
struct RoomPlan: Sendable {
    let program: String
    let arguments: [String]
    /// The name of its socket, both in the folder of sockets and to the room; witness and watcher have none, since they only dial.
    let socket: String?

    /// The rooms of user mode, in the order in which they start. Each learns only its own folder and where the enclave is.
    static func all(enclave: [String], watcher: [String], home: String, sockets: String, uid: UInt32) -> [RoomPlan] {
        let dials = ["--enclave-folder", sockets, "--enclave-uid", "\(uid)"]
        return [
            RoomPlan(program: enclave[0], arguments: ["--state", "\(home)/\(enclaveFolder)"] + enclave.dropFirst(), socket: "enclave"),
            RoomPlan(program: "keychaind", arguments: ["--state", "\(home)/\(keychainFolder)"] + dials, socket: "keychain"),
            RoomPlan(program: "authd", arguments: dials, socket: "authentication"),
            RoomPlan(program: "vauban-witness", arguments: dials, socket: nil),
        ] + watcher.prefix(1).map { RoomPlan(program: $0, arguments: dials + watcher.dropFirst(), socket: nil) }
    }

    static let enclaveFolder = "enclave"
    static let keychainFolder = "keychain"
    static let stateFolders = [enclaveFolder, keychainFolder]
}
