// Modules that a target must never reach, whatever Package.swift says.

/// Modules that a target must not reach through any number of imports.
struct ForbiddenReach {
    let target: String
    let modules: Set<String>
    /// Families of modules, by prefix.
    let modulePrefixes: [String]
    /// System headers of C modules, by prefix.
    let headerPrefixes: [String]

    init(target: String, modules: Set<String>, modulePrefixes: [String] = [], headerPrefixes: [String] = []) {
        self.target = target
        self.modules = modules
        self.modulePrefixes = modulePrefixes
        self.headerPrefixes = headerPrefixes
    }

    func forbids(_ name: String) -> Bool {
        modules.contains(name) || modulePrefixes.contains(where: name.hasPrefix) || headerPrefixes.contains { name.hasPrefix("<" + $0) }
    }
}

/// Modules for rooms alone: decisions, storage, prompts and hardening.
private let roomModules: Set<String> = [
    "Enclave", "EnclaveSoftware", "EnclaveRoom", "EnclaveWire", "EnclaveConnection", "Keychain", "KeychainStore", "Authentication",
    "FingerprintReader", "Witness", "Watcher", "Launcher", "VaubanRoomHardening", "CVaubanConfinement", "CVaubanBus", "GRDB",
]

let forbiddenReaches = [
    // enclaved links neither a database nor a bus nor a network library, and no other room.
    ForbiddenReach(
        target: "enclaved",
        modules: [
            "GRDB", "GRDBSQLite", "SQLite3", "SwiftCSV", "CSystemd", "FoundationNetworking", "AsyncHTTPClient", "Hummingbird", "Keychain",
            "KeychainStore", "Authentication", "FingerprintReader", "CVaubanBus",
        ],
        modulePrefixes: ["NIO"],
        headerPrefixes: ["sqlite3", "systemd/", "dbus/", "netinet/", "arpa/", "netdb", "curl/"]),
    // A room knows another by its socket alone.
    ForbiddenReach(
        target: "keychaind", modules: ["Enclave", "EnclaveSoftware", "EnclaveRoom", "Authentication", "FingerprintReader", "CVaubanBus"]),
    ForbiddenReach(
        target: "authd",
        modules: ["Enclave", "EnclaveSoftware", "EnclaveRoom", "Keychain", "KeychainStore", "GRDB", "Crypto", "CVaubanBus"]),
    ForbiddenReach(target: "vauban-witness", modules: ["Enclave", "Keychain", "KeychainStore", "Authentication", "CVaubanBus", "GRDB"]),
    ForbiddenReach(target: "vauban-watcher", modules: ["Enclave", "Keychain", "KeychainStore", "Authentication", "GRDB", "Crypto"]),
    ForbiddenReach(target: "vauban-reader", modules: ["Enclave", "Keychain", "KeychainStore", "Authentication", "GRDB"]),
    // The executable of the three programs with a network, the fetcher among them, reaches nothing that holds, decides or opens.
    ForbiddenReach(
        target: "vauban-network",
        modules: roomModules.subtracting(["VaubanRoomHardening", "CVaubanConfinement"]).union([
            "VaubanKeychainModel", "VaubanKeychainWire", "VaubanKeychainClient", "VaubanSyncModel", "VaubanCommands",
        ])),
    // Only the store uses the database.
    ForbiddenReach(target: "VaubanKeychainModel", modules: ["GRDB", "VaubanLinuxHost"]),
    // An application, and the command line as one, links nothing of a room, so that it needs neither libsystemd nor libseccomp.
    ForbiddenReach(target: "VaubanSecurity", modules: roomModules, headerPrefixes: ["systemd/", "seccomp"]),
    ForbiddenReach(target: "VaubanLocalAuthentication", modules: roomModules, headerPrefixes: ["systemd/", "seccomp"]),
    ForbiddenReach(target: "VaubanKeychain", modules: roomModules, headerPrefixes: ["systemd/", "seccomp"]),
    ForbiddenReach(target: "VaubanProtection", modules: roomModules, headerPrefixes: ["systemd/", "seccomp"]),
    ForbiddenReach(target: "VaubanPrompt", modules: roomModules, headerPrefixes: ["systemd/", "seccomp"]),
    ForbiddenReach(
        target: "vauban", modules: roomModules.union(["AsyncHTTPClient", "FoundationNetworking"]), modulePrefixes: ["NIO"],
        headerPrefixes: ["systemd/", "seccomp"]),
    ForbiddenReach(target: "vauban-browser-host", modules: roomModules, headerPrefixes: ["systemd/", "seccomp"]),
]

/// Programs that start with the machine, a login or a browser and stay. All of Foundation, with ICU's data, would be most of their memory
/// and of the time that they take to start. GRDB brings it to keychaind.
let withoutFoundation = [
    "enclaved", "authd", "vauban-witness", "vauban-watcher", "vauban-reader", "vauban-launcher", "vauban-secret-service",
    "vauban-ssh-agent", "vauban-browser-host",
].map { ForbiddenReach(target: $0, modules: ["Foundation"]) }
