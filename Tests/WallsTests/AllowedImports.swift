// The walls, as a table: which modules the sources of a target may name in an import, and nothing else. A new line here is a
// new dependency between rooms, so it deserves a reason in the commit that adds it.

/// Swift's own modules and the C library: no room is crossed by using them.
private let platform: Set<String> = ["Swift", "Foundation", "Glibc", "Synchronization", "Dispatch"]

let allowedImports: [String: Set<String>] = [
    // Values: true everywhere, no I/O.
    "VaubanSecretBytes": platform,
    "VaubanDER": platform.union(["SwiftASN1"]),
    "VaubanAccessPolicy": platform.union(["VaubanSecretBytes", "VaubanDER", "SwiftASN1"]),
    "VaubanKeychainModel": platform.union(["VaubanAccessPolicy", "VaubanDER", "SwiftASN1"]),

    // Contracts: one module a door.
    "VaubanKeychainWire": platform.union(["VaubanKeychainModel", "VaubanAccessPolicy", "VaubanDER", "SwiftASN1"]),
    "VaubanAuthenticationWire": platform.union(["VaubanAccessPolicy", "VaubanDER", "SwiftASN1"]),
    "EnclaveWire": platform.union(["VaubanAccessPolicy", "VaubanDER", "SwiftASN1"]),
    "VaubanKeyWire": platform.union(["VaubanAccessPolicy", "VaubanDER", "SwiftASN1"]),

    // The messages of SSH's agents, for the agent and for `vauban ssh import`, which a real ssh-add speaks to.
    "VaubanSSHWire": platform.union(["VaubanSecretBytes", "VaubanAccessPolicy", "VaubanKeychainModel"]),

    // Host: the only place that talks to Linux.
    "CVaubanLinux": [],
    "VaubanLinuxHost": platform.union(policy).union(["CVaubanLinux", "SwiftASN1"]),
    "CVaubanConfinement": [],
    // Only rooms: what an application links must not need libseccomp.
    "VaubanRoomHardening": platform.union(["CVaubanConfinement", "VaubanLinuxHost"]),
    "Launcher": platform.union(["VaubanLinuxHost", "CVaubanLinux", "Logging"]),
    "vauban-launcher": platform.union(["Launcher"]),
    "Witness": platform.union(["EnclaveWire", "VaubanDER", "VaubanAccessPolicy", "VaubanLinuxHost", "VaubanRoomHardening", "Crypto", "Logging"]),
    "vauban-witness": platform.union(["Witness"]),
    // The bus. The watcher listens there and can only ever make the enclave lock; the reader asks fprintd.
    "CVaubanBus": [],
    // C, built by scripts/build-pam: it is loaded into a login's process, and reaches the rest by starting `vauban`.
    "pam_vauban": [],
    "Watcher": platform.union(["EnclaveWire", "VaubanDER", "VaubanLinuxHost", "VaubanRoomHardening", "CVaubanBus", "Logging"]),
    "vauban-watcher": platform.union(["Watcher"]),

    // Enclave: keys. Neither a database nor a bus nor a network is in reach of anything that enclaved links.
    "Enclave": platform.union(policy).union(["EnclaveWire", "VaubanKeyWire", "VaubanLinuxHost", "SwiftASN1", "Crypto", "CryptoExtras"]),
    "EnclaveSoftware": platform.union(policy).union(["Enclave", "VaubanLinuxHost", "SwiftASN1", "Crypto"]),
    "EnclaveRoom": platform.union(policy).union(["Enclave", "EnclaveSoftware", "EnclaveWire", "VaubanKeyWire", "VaubanLinuxHost", "VaubanRoomHardening", "Logging"]),
    "enclaved": platform.union(["EnclaveRoom", "Enclave", "EnclaveSoftware"]),

    // Keychain: records. Only the store knows the database.
    "KeychainStore": platform.union(["VaubanKeychainModel", "VaubanAccessPolicy", "VaubanDER", "VaubanLinuxHost", "GRDB", "SwiftASN1"]),
    "Keychain": platform.union(policy).union(["KeychainStore", "EnclaveWire", "VaubanKeychainWire", "VaubanKeychainModel"])
        .union(["VaubanLinuxHost", "VaubanRoomHardening", "SwiftASN1", "Crypto", "Logging"]),
    "keychaind": platform.union(["Keychain"]),

    // Authentication: the queue for the person's attention.
    "Authentication": platform.union(["VaubanAuthenticationWire", "EnclaveWire", "VaubanAccessPolicy", "VaubanDER"])
        .union(["VaubanLinuxHost", "VaubanRoomHardening", "Logging"]),
    "authd": platform.union(["Authentication"]),
    // The bridge to fprintd: it holds the key of its pairing and what a finger is to give back.
    "FingerprintReader": platform.union(policy).union(["EnclaveWire", "VaubanLinuxHost", "VaubanRoomHardening"])
        .union(["CVaubanBus", "SwiftASN1", "Crypto", "Logging"]),
    "vauban-reader": platform.union(["FingerprintReader"]),

    // Callers: translators, and the typed clients that they share.
    "VaubanKeychainClient": platform.union(policy).union(["VaubanKeychainWire", "VaubanKeyWire", "VaubanKeychainModel", "VaubanLinuxHost", "SwiftASN1", "Crypto"]),
    "VaubanAuthenticationClient": platform.union(policy).union(["VaubanAuthenticationWire", "VaubanLinuxHost", "SwiftASN1", "Crypto"]),
    "VaubanSecurity": platform.union([
        "VaubanKeyWire", "VaubanDER", "VaubanKeychainClient", "VaubanKeychainWire", "VaubanKeychainModel", "VaubanAccessPolicy", "VaubanSecretBytes", "VaubanLinuxHost",
        "VaubanAuthenticationClient", "SwiftASN1", "Crypto", "CryptoExtras",
    ]),
    "VaubanLocalAuthentication": platform.union(["VaubanAuthenticationClient", "VaubanKeychainClient", "VaubanAccessPolicy", "VaubanLinuxHost", "VaubanSecurity"]),
    // For the sheet, which is a package of its own and so sees public names alone.
    "VaubanPrompt": platform.union(["VaubanAuthenticationClient", "VaubanAccessPolicy", "VaubanSecretBytes", "VaubanLinuxHost"]),
    "VaubanCryptoKit": platform.union(["VaubanSecurity", "VaubanLocalAuthentication", "VaubanAccessPolicy", "VaubanKeyWire", "Crypto"]),
    "VaubanOnApple": [],
    // Apple's module names: interfaces that re-export ours, and no code.
    "VaubanAppleNames": [],
    // Apple's names and nothing of ours, so that it builds where there is nothing of ours.
    "VaubanKeychain": platform.union(["Security", "LocalAuthentication", "Darwin"]),

    // The one target with OpenCombine.
    "VaubanCombine": platform.union(["VaubanLocalAuthentication", "OpenCombine"]),

    // Translators: processes of their own, as the person, that speak somebody else's protocol. They hold keys of a person's at
    // most in memory, and shut themselves in as the rooms do.
    "SSHAgent": platform.union([
        "VaubanSSHWire", "VaubanKeychainClient", "VaubanAuthenticationClient", "VaubanKeyWire", "VaubanKeychainModel", "VaubanAccessPolicy",
        "VaubanSecretBytes", "VaubanLinuxHost", "VaubanRoomHardening", "Crypto", "CryptoExtras",
    ]),
    "vauban-ssh-agent": platform.union(["SSHAgent"]),

    // The command line. An export is encrypted here and nowhere else: no room needs to know of it.
    "CVaubanZlib": [],
    "vauban": platform.union(["VaubanKeychainClient", "VaubanAuthenticationClient", "VaubanKeychainModel", "VaubanAccessPolicy"])
        .union(["VaubanKeychainWire", "VaubanKeyWire", "VaubanSSHWire"])
        .union(["VaubanSecretBytes", "VaubanLinuxHost", "CVaubanLinux", "CVaubanZlib", "ArgumentParser"])
        .union(["VaubanDER", "Crypto", "CryptoExtras"]),

    // Testing: never linked by a product.
    "FuzzHarness": platform.union(policy).union(["VaubanKeyWire", "Enclave", "EnclaveWire", "Crypto"]),
    "KeychainFuzzing": platform.union(policy).union(["Keychain", "KeychainStore", "EnclaveWire", "VaubanKeychainWire", "VaubanKeychainModel", "SwiftASN1", "Crypto"]),
    "CertificateFuzzing": platform.union(["VaubanSecurity"]),
    "CSQLiteRecorder": [],
    "acceptance": platform,
    "room-starter": platform.union(["VaubanLinuxHost"]),
    "keychain-caller": platform.union(["Security", "LocalAuthentication"]),
    "key-caller": platform.union(["Security", "LocalAuthentication"]),
    "pty-play": platform.union(["VaubanLinuxHost", "CVaubanLinux"]),
    "SimulatedHost": platform.union(["VaubanLinuxHost"]),
    "keychaind-testing": platform.union(["Keychain", "VaubanLinuxHost"]),
    "vauban-watcher-testing": platform.union(["Watcher"]),
    "vauban-reader-testing": platform.union(["FingerprintReader"]),
    "enclaved-testing": platform.union(["EnclaveRoom", "Enclave", "EnclaveSoftware", "VaubanLinuxHost"]),
    "vauban-launcher-testing": platform.union(["Launcher", "VaubanLinuxHost"]),
    "CVaubanProbe": [],
    "hardening-probe": platform.union(["VaubanRoomHardening", "VaubanLinuxHost", "VaubanSecretBytes", "CVaubanProbe"]),
]

/// What every room that decides or carries a decision needs: secrets, their encoding, and the words of a policy.
private let policy: Set<String> = ["VaubanSecretBytes", "VaubanDER", "VaubanAccessPolicy"]

/// What must not be in reach of a target, through any number of imports.
struct ForbiddenReach {
    let target: String
    let modules: Set<String>
    /// Modules that come in families, by how their names begin.
    let modulePrefixes: [String]
    /// System headers of C shims, by how their names begin.
    let headerPrefixes: [String]

    func forbids(_ name: String) -> Bool {
        modules.contains(name) || modulePrefixes.contains(where: name.hasPrefix) || headerPrefixes.contains { name.hasPrefix("<" + $0) }
    }
}

let forbiddenReaches = [
    ForbiddenReach(
        target: "enclaved",
        modules: ["GRDB", "GRDBSQLite", "SQLite3", "SwiftCSV", "CSystemd", "FoundationNetworking", "AsyncHTTPClient", "Hummingbird"],
        modulePrefixes: ["NIO"],
        headerPrefixes: ["sqlite3", "systemd/", "dbus/", "netinet/", "arpa/", "netdb", "curl/"]),
    // What an application links must not need libsystemd.
    ForbiddenReach(target: "VaubanSecurity", modules: ["CVaubanBus", "Watcher", "FingerprintReader"], modulePrefixes: [], headerPrefixes: ["systemd/"]),
    ForbiddenReach(target: "VaubanLocalAuthentication", modules: ["CVaubanBus", "Watcher", "FingerprintReader"], modulePrefixes: [], headerPrefixes: ["systemd/"]),
]
