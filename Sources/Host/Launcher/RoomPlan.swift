internal import VaubanLinuxHost

/// The programs that differ between the installed launcher and the one for tests, each with arguments that precede those of its room.
package struct RoomPrograms: Sendable {
    package typealias Program = (name: String, words: [String])
    let enclave: Program
    let keychain: Program
    let watcher: Program
    /// The reader; nil if a test acts as the reader itself.
    let reader: Program?

    package static let installed = RoomPrograms()

    package init(
        enclave: Program = ("enclaved", []), keychain: Program = ("keychaind", []), watcher: Program = ("vauban-watcher", []),
        reader: Program? = ("vauban-reader", [])
    ) {
        self.enclave = enclave
        self.keychain = keychain
        self.watcher = watcher
        self.reader = reader
    }
}

/// How to start one room or attendant.
struct RoomPlan: Sendable {
    let program: String
    let arguments: [String]
    /// The name of its socket, in the folder of sockets and for the room. Witness, watcher and reader have none, since they only connect.
    let socket: String?
    /// The delay after the start of the first rooms, in nanoseconds.
    private(set) var delay: UInt64 = 0

    init(program: String, arguments: [String], socket: String?) {
        self.program = program
        self.arguments = arguments
        self.socket = socket
    }

    private init(_ program: RoomPrograms.Program, arguments: [String], socket: String?) {
        self.init(program: program.name, arguments: program.words + arguments, socket: socket)
    }

    /// Returns the rooms of user mode in starting order. Each receives only its own folder and the enclave's address. An application needs
    /// the first two for its reply; the others start a little later, so as not to take processor time from these.
    static func all(_ programs: RoomPrograms, home: String, sockets: String, uid: UInt32) -> [RoomPlan] {
        let dials = ["--enclave-folder", sockets, "--enclave-uid", "\(uid)"]
        let first = [
            RoomPlan(programs.enclave, arguments: ["--state", "\(home)/\(enclaveFolder)"], socket: "enclave"),
            RoomPlan(programs.keychain, arguments: ["--state", "\(home)/\(keychainFolder)"] + dials, socket: "keychain"),
        ]
        let reader = programs.reader.map { RoomPlan($0, arguments: dials + ["--state", "\(home)/\(readerFolder)"], socket: nil) }
        let others = [
            RoomPlan(program: "authd", arguments: dials, socket: "authentication"),
            RoomPlan(program: "vauban-witness", arguments: dials, socket: nil), RoomPlan(programs.watcher, arguments: dials, socket: nil),
        ]
        return first + (others + [reader].compactMap(\.self)).map { $0.delayed(by: LauncherLimits.headStart) }
    }

    private func delayed(by delay: UInt64) -> RoomPlan {
        var plan = self
        plan.delay = delay
        return plan
    }

    static let enclaveFolder = "enclave"
    static let keychainFolder = "keychain"
    static let readerFolder = "reader"
    static let stateFolders = [enclaveFolder, keychainFolder, readerFolder]
}
