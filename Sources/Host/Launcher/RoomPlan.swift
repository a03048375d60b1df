internal import VaubanLinuxHost

/// The programs in which the installed launcher and the one for tests differ, each with words that precede its room's arguments.
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
    /// How long after the first rooms it starts, in nanoseconds.
    private(set) var delay: UInt64 = 0

    init(program: String, arguments: [String], socket: String?) {
        self.program = program
        self.arguments = arguments
        self.socket = socket
    }

    private init(_ program: RoomPrograms.Program, arguments: [String], socket: String?) {
        self.init(program: program.name, arguments: program.words + arguments, socket: socket)
    }

    /// Returns the rooms of user mode in starting order. Each receives only its own folder and the enclave's address. The first two give an
    /// application its answer; the others start a little later, so that they do not take the processors from these.
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
