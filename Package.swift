// swift-tools-version: 6.2
// The map of Vauban, a table: targets grouped by room, in dependency order, one comment each. ARCHITECTURE.md says what the
// walls are. This file alone says who depends on whom: Tests/WallsTests checks that each target imports exactly what it names here.
import PackageDescription

/// `make fuzz` builds with VAUBAN_FUZZ in the environment: everything of ours then counts each edge and comparison, and checks addresses.
let isFuzzing = Context.environment["VAUBAN_FUZZ"] != nil
let instruments: [SwiftSetting] = isFuzzing ? [.unsafeFlags(["-sanitize=fuzzer,address"])] : []

/// A warning in our own targets fails the build. SwiftPM turns this off by itself for packages that depend on us.
let house: [SwiftSetting] =
    [
        .treatAllWarnings(as: .error),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("ExistentialAny"),
    ] + instruments

/// `VaubanSecurity` hides X509 from its importers by an attribute that the compiler warns about, since types of a hidden module must not be
/// part of the layout of public types. Without it, X509 would bring the toolchain's CoreFoundation into every file of an application. That
/// module then owns structures of the C library: with MemberImportVisibility, `stat().st_mode` needs an import that makes `CFString`
/// ambiguous.
let hidingImports: [SwiftSetting] = [.treatWarning("ImplementationOnlyDeprecated", as: .warning)]

let asn1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let x509 = Target.Dependency.product(name: "X509", package: "swift-certificates")
let log = Target.Dependency.product(name: "Logging", package: "swift-log")

/// Transport security needs SwiftNIO, which SwiftPM fetches for a client only with the trait `Transport`. `scripts/build` sets
/// VAUBAN_TRANSPORT instead: a trait changes the compiler's arguments for every target of the package, so both builds would recompile all.
let buildsTransport = Context.environment["VAUBAN_TRANSPORT"] != nil
let transportSettings: [SwiftSetting] = buildsTransport ? [.define("Transport")] : []

func transportDependency(_ name: String, _ package: String) -> Target.Dependency {
    .product(name: name, package: package, condition: buildsTransport ? nil : .when(traits: ["Transport"]))
}

func target(_ name: String, in folder: String, _ dependencies: [Target.Dependency] = [], settings: [SwiftSetting] = []) -> Target {
    .target(name: name, dependencies: dependencies, path: "Sources/\(folder)/\(name)", swiftSettings: house + settings)
}

/// All functions of other libraries are resolved at the start, so that the table of their addresses is read-only afterwards.
let resolvedAtStart: [LinkerSetting] = [.unsafeFlags(["-Xlinker", "-z", "-Xlinker", "now"])]

/// Release builds link programs, for tests too, as small as they are installed: relative relocations packed, as glibc 2.36 reads them, and
/// without what scripts/sections.ld names. Both take the linker of the toolchain.
let small: [LinkerSetting] = [
    .unsafeFlags(
        ["-use-ld=lld"]
            + ["-z", "pack-relative-relocs", "-T", "\(Context.packageDirectory)/scripts/sections.ld"].flatMap { ["-Xlinker", $0] },
        .when(configuration: .release))
]

func program(_ name: String, in folder: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: "Sources/\(folder)/\(name)", swiftSettings: house,
        linkerSettings: isFuzzing ? [] : small + resolvedAtStart)
}

/// The code of tests is not optimized, so that it compiles in half the time. The code under test is optimized, as shipped, and so are tests
/// whose own code does most of the work.
func tests(_ name: String, _ dependencies: [Target.Dependency], optimized: Bool = false) -> Target {
    .testTarget(
        name: name, dependencies: dependencies + ["TestSupport"], path: "Tests/\(name)",
        swiftSettings: house + (optimized ? [] : [.unsafeFlags(["-Onone"], .when(configuration: .release))]),
        linkerSettings: quiet + [.unsafeFlags(["-use-ld=lld"])])
}

/// Sources like an application's: they see only public names, and build with the compiler's default settings.
func application(_ name: String, in folder: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: "\(folder)/Sources/\(name)", packageAccess: false,
        swiftSettings: [.treatAllWarnings(as: .error)], linkerSettings: quiet)
}

func applicationModule(_ name: String, in folder: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "\(folder)/Sources/\(name)", packageAccess: false,
        swiftSettings: [.treatAllWarnings(as: .error)])
}

/// SwiftPM passes a folder of frameworks wherever a target depends on a binary target. Here it is unused, which clang warns about.
let quiet: [LinkerSetting] = [.unsafeFlags(["-Xclang-linker", "-Wno-unused-command-line-argument"])]

#if os(Linux)

let values: [Target] = [
    // Bytes that are zeroed and cannot be copied.
    target("VaubanSecretBytes", in: "Values"),
    // The few shapes of our ASN.1 modules: their reader and writer.
    target("VaubanDER", in: "Values", [asn1]),
    // Secret texts, assembled piece by piece in zeroing memory.
    target("VaubanSecretText", in: "Values", ["VaubanSecretBytes"]),
    // JSON read strictly, within limits and in place, and written in zeroing memory.
    target("VaubanJSON", in: "Values", ["VaubanSecretText", "VaubanSecretBytes", "VaubanRefusal"]),
    // Keys for one-time codes, and the addresses that hold them.
    target("VaubanOneTimeCodes", in: "Values", ["VaubanSecretBytes", crypto]),
    // What websites require of passwords, and passwords that comply.
    target("VaubanPasswordRules", in: "Values", ["VaubanSecretBytes"]),
    // What the browser's host and the command line that enables it agree on: names, and the path of a list.
    target("VaubanBrowserSetup", in: "Values"),
    // Text from other programs, made safe to show, and paths as bytes.
    target("VaubanPlainText", in: "Values"),
    // Which applications and which websites belong together: names, entitlements, and the file that a site publishes.
    target("VaubanAssociations", in: "Values", ["VaubanJSON"]),
    // The typed negative answer: its reason, and who is to blame.
    target("VaubanRefusal", in: "Values", ["VaubanDER"]),
    // Which passcodes are accepted, how strong one is, and recovery keys.
    target("VaubanPasscode", in: "Values", ["VaubanSecretBytes"]),
    // Protection classes, access control, and the access decision: a pure function.
    target("VaubanAccessPolicy", in: "Values", ["VaubanRefusal", "VaubanPlainText", "VaubanDER"]),
    // The signature at the end of an executable: its form, and whether it is valid.
    target("VaubanCodeSigning", in: "Values", ["VaubanAccessPolicy", "VaubanDER", crypto]),
    // What a user is shown, answers and sets: prompts, consents, device status, lock settings.
    target("VaubanUserModel", in: "Values", ["VaubanRefusal", "VaubanPlainText", "VaubanAccessPolicy", "VaubanDER"]),
    // Synchronized items without keys or files: stamps and merging as a pure function, and what the enclave is asked about a circle.
    target("VaubanSyncModel", in: "Values", ["VaubanRefusal", "VaubanDER"]),
    // Requests to the enclave about the end of an access log.
    target("VaubanLogHead", in: "Values", ["VaubanDER"]),
    // That end as a text, its signatures, and their verification.
    target("VaubanSignedNote", in: "Values", ["VaubanLogHead", crypto]),
    // Items, attributes and queries, with their grammar as a table.
    target("VaubanKeychainModel", in: "Values", ["VaubanUserModel", "VaubanAccessPolicy", "VaubanDER"]),
]

let contracts: [Target] = [
    // Requests of a user's programs about that user's own keychain, which authd decodes and forwards to enclaved.
    target("VaubanUserWire", in: "Contracts", ["VaubanRefusal", "VaubanUserModel", "VaubanDER"]),
    // The wire of keychaind.
    target(
        "VaubanKeychainWire", in: "Contracts",
        ["VaubanKeychainModel", "VaubanSyncModel", "VaubanLogHead", "VaubanRefusal", "VaubanAccessPolicy", "VaubanDER"]),
    // Requests of the command line to the program that carries the files of vauban sync.
    target("VaubanSyncCarrierWire", in: "Contracts"),
    // Requests of keychaind to the fetcher.
    target("VaubanAssociationsWire", in: "Contracts", ["VaubanAssociations", "VaubanDER"]),
    // The wire of authd.
    target("VaubanAuthenticationWire", in: "Contracts", ["VaubanUserWire", "VaubanRefusal", "VaubanUserModel", "VaubanDER"]),
    // The wire of enclaved, between rooms only.
    target(
        "EnclaveWire", in: "Contracts",
        ["VaubanUserWire", "VaubanSyncModel", "VaubanLogHead", "VaubanRefusal", "VaubanUserModel", "VaubanAccessPolicy", "VaubanDER"]),
    // The connection on which an application uses private keys, and the form of such a key outside the enclave.
    target("VaubanKeyWire", in: "Contracts", ["VaubanRefusal", "VaubanUserModel", "VaubanAccessPolicy", "VaubanDER"]),
    // The messages of SSH agents, and how SSH keys are stored as items.
    target("VaubanSSHWire", in: "Contracts", ["VaubanKeychainModel", "VaubanUserModel", "VaubanAccessPolicy", "VaubanSecretBytes"]),
]

let host: [Target] = [
    // Marked C: ancillary data, system calls without a wrapper, fork.
    .target(name: "CVaubanLinux", path: "Sources/Host/CVaubanLinux"),
    // The only place that talks to Linux: sockets, peers, folders, files, clocks.
    target(
        "VaubanLinuxHost", in: "Host",
        ["CVaubanLinux", "VaubanSecretBytes", "VaubanRefusal", "VaubanPlainText", "VaubanAccessPolicy", "VaubanDER"]),
    // Marked C: Landlock and the filter of system calls. Separate, so that what an application links does not need libseccomp. Its own
    // `free` would interfere with an address sanitizer.
    .target(
        name: "CVaubanConfinement", dependencies: ["CVaubanLinux"], path: "Sources/Host/CVaubanConfinement",
        cSettings: isFuzzing ? [.define("VAUBAN_CHECKED_ADDRESSES")] : [], linkerSettings: [.linkedLibrary("seccomp")]),
    // How a room confines itself, and the tables of what each room may do.
    target("VaubanRoomHardening", in: "Host", ["CVaubanConfinement", "VaubanLinuxHost"]),
    // Marked C: what any program can give up, for vauban-protect and a program's own main. Needs no library but C's.
    .target(name: "CVaubanProtection", path: "Sources/Host/CVaubanProtection"),
    // The log of a room that many users' programs connect to, with a limit on the lines that each can cause.
    target("VaubanRoomLog", in: "Host", ["VaubanLinuxHost", "VaubanRefusal", log]),
]

let enclave: [Target] = [
    // How other rooms send requests to the enclave on behalf of one caller.
    target(
        "EnclaveConnection", in: "Rooms/Enclave",
        ["EnclaveWire", "VaubanUserWire", "VaubanRefusal", "VaubanSecretBytes", "VaubanDER", "VaubanLinuxHost"]),
    // The decisions: keybag, lock state, attempts, presence, item keys. No I/O.
    target(
        "Enclave", in: "Rooms/Enclave",
        [
            "EnclaveWire", "VaubanUserWire", "VaubanKeyWire", "VaubanRefusal", "VaubanPasscode", "VaubanUserModel",
            "VaubanSyncModel", "VaubanLogHead", "VaubanSignedNote", "VaubanAccessPolicy", "VaubanSecretBytes", "VaubanDER",
            "VaubanLinuxHost",
            asn1, crypto, cryptoExtras,
        ]),
    // The backend without hardware: a device secret in a file.
    target("EnclaveSoftware", in: "Rooms/Enclave", ["Enclave", "VaubanLinuxHost", "VaubanSecretBytes", crypto]),
    // The server: dispatch table and standing connections.
    target(
        "EnclaveRoom", in: "Rooms/Enclave",
        [
            "Enclave", "EnclaveSoftware", "EnclaveWire", "VaubanUserWire", "VaubanKeyWire", "VaubanRefusal", "VaubanPlainText",
            "VaubanPasscode", "VaubanUserModel", "VaubanSyncModel", "VaubanAccessPolicy", "VaubanDER",
            "VaubanLinuxHost", "VaubanRoomHardening", "VaubanSecretBytes", log,
        ]),
    // The room that holds keys.
    program("enclaved", in: "Rooms/Enclave", ["EnclaveRoom", "Enclave"]),
]

let keychain: [Target] = [
    // The database: rows, blind indexes, quarantine. The only target that knows SQLite.
    target(
        "KeychainStore", in: "Rooms/Keychain",
        [
            "VaubanLinuxHost", .product(name: "GRDB", package: "GRDB.swift"),
            // SQLite as GRDB has it: a row is read from its statement.
            .product(name: "GRDBSQLite", package: "GRDB.swift"),
        ]),
    // The query grammar and the row's two halves, over a store and the enclave's wire.
    target(
        "Keychain", in: "Rooms/Keychain",
        [
            "KeychainStore", "EnclaveConnection", "EnclaveWire", "VaubanKeychainWire", "VaubanAssociationsWire", "VaubanAssociations",
            "VaubanKeychainModel", "VaubanRefusal", "VaubanPlainText", "VaubanUserModel", "VaubanSyncModel", "VaubanLogHead",
            "VaubanAccessPolicy", "VaubanSecretBytes", "VaubanDER", "VaubanLinuxHost", "VaubanRoomHardening", "VaubanRoomLog", crypto,
            log,
        ]),
    // The room that holds records.
    program("keychaind", in: "Rooms/Keychain", ["Keychain"]),
]

let authentication: [Target] = [
    // The queue of prompts.
    target(
        "Authentication", in: "Rooms/Authentication",
        [
            "VaubanAuthenticationWire", "VaubanUserWire", "EnclaveConnection", "EnclaveWire", "VaubanRefusal", "VaubanPlainText",
            "VaubanUserModel", "VaubanDER",
            "VaubanLinuxHost", "VaubanRoomHardening", "VaubanRoomLog", log,
        ]),
    // The room that prompts.
    program("authd", in: "Rooms/Authentication", ["Authentication"]),
]

let attendants: [Target] = [
    // Starts the rooms in user mode.
    target("Launcher", in: "Host", ["VaubanLinuxHost", "CVaubanLinux", log]),
    program("vauban-launcher", in: "Host", ["Launcher"]),
    // The one process that inspects other processes.
    target(
        "Witness", in: "Rooms/Witness",
        [
            "EnclaveWire", "VaubanCodeSigning", "VaubanDER", "VaubanPlainText", "VaubanUserModel", "VaubanLinuxHost",
            "VaubanRoomHardening", log,
        ]),
    program("vauban-witness", in: "Rooms/Witness", ["Witness"]),
    // Marked C: the message bus, over libsystemd. Only the watcher, the reader and the Secret Service use it, so that no application needs
    // that library.
    .target(name: "CVaubanBus", path: "Sources/Host/CVaubanBus", linkerSettings: [.linkedLibrary("systemd")]),
    // Notifies the enclave when the machine sleeps or a screen is locked.
    target("Watcher", in: "Rooms/Watcher", ["EnclaveWire", "VaubanDER", "VaubanLinuxHost", "VaubanRoomHardening", "CVaubanBus", log]),
    program("vauban-watcher", in: "Rooms/Watcher", ["Watcher"]),
    // Asks fprintd for fingers, and answers the enclave.
    target(
        "FingerprintReader", in: "Rooms/Reader",
        [
            "EnclaveWire", "VaubanUserModel", "VaubanSecretBytes", "VaubanDER", "VaubanLinuxHost", "VaubanRoomHardening", "CVaubanBus",
            crypto, log,
        ]),
    program("vauban-reader", in: "Rooms/Reader", ["FingerprintReader"]),
]

/// The dependencies of a target that imports `Security`, `LocalAuthentication` or `CryptoKit` by Apple's names.
let appleModules: [Target.Dependency] = ["VaubanSecurity", "VaubanLocalAuthentication", "VaubanCryptoKit", "VaubanAppleNames"]

let callers: [Target] = [
    // A typed client of keychaind.
    target(
        "VaubanKeychainClient", in: "Callers",
        [
            "VaubanKeychainWire", "VaubanKeyWire", "VaubanKeychainModel", "VaubanSyncModel", "VaubanRefusal", "VaubanUserModel",
            "VaubanAccessPolicy", "VaubanSecretBytes", "VaubanDER", "VaubanLinuxHost", crypto,
        ]),
    // A typed client of authd; sealing passcodes; the agent's side of a prompt.
    target(
        "VaubanAuthenticationClient", in: "Callers",
        [
            "VaubanAccessPolicy",
            "VaubanAuthenticationWire", "VaubanUserWire", "VaubanRefusal", "VaubanPlainText", "VaubanPasscode", "VaubanUserModel",
            "VaubanSecretBytes", "VaubanDER", "VaubanLinuxHost",
            crypto,
        ]),
    // Apple's Security, in Apple's names. A call that finds no prompt agent prompts at the caller's own terminal, where that is allowed.
    target(
        "VaubanSecurity", in: "Callers",
        [
            "VaubanKeychainClient", "VaubanKeyWire", "VaubanAuthenticationClient", "VaubanKeychainWire", "VaubanKeychainModel",
            "VaubanPasswordRules", "VaubanCodeSigning", "VaubanRefusal", "VaubanAccessPolicy", "VaubanSecretBytes", "VaubanDER",
            "VaubanLinuxHost", asn1, crypto, cryptoExtras, x509,
        ], settings: hidingImports),
    // Apple's LocalAuthentication, in Apple's names.
    target(
        "VaubanLocalAuthentication", in: "Callers",
        [
            "VaubanAuthenticationClient", "VaubanKeychainClient", "VaubanRefusal", "VaubanPlainText", "VaubanUserModel",
            "VaubanAccessPolicy", "VaubanLinuxHost", "VaubanSecurity",
        ]),
    // Marked C: how soon a passcode would be guessed, by zxcvbn, which has its own word lists.
    .target(name: "CVaubanZxcvbn", path: "Sources/Callers/CVaubanZxcvbn", linkerSettings: [.linkedLibrary("zxcvbn")]),
    // The estimate shown for a new passcode where it is typed. Separate, so that no application needs that library.
    target("VaubanPasscodeEstimate", in: "Callers", ["CVaubanZxcvbn", "VaubanPasscode", "VaubanSecretBytes"]),
    // The agent's side of a prompt for programs that draw it: states, over the sentences that terminals also show. Only for agents, such as
    // the one in Sheet/.
    target(
        "VaubanPrompt", in: "Callers",
        [
            "VaubanAccessPolicy", "VaubanAuthenticationClient", "VaubanKeychainClient", "VaubanRefusal", "VaubanPlainText",
            "VaubanPasscode", "VaubanPasscodeEstimate", "VaubanUserModel", "VaubanSecretBytes", "VaubanLinuxHost",
        ]),
    // Apple's module names, Security, LocalAuthentication and CryptoKit, for exactly the targets that depend on this one. It is a folder of
    // module interfaces and an empty library: a module of ours with such a name would be seen by every package of a client's build.
    .binaryTarget(name: "VaubanAppleNames", path: "Sources/Callers/VaubanAppleNames/VaubanAppleNames.artifactbundle"),
    // The keychain with a Swift interface, over Apple's names only, so that the same sources build on Apple's systems.
    target("VaubanKeychain", in: "Callers", appleModules),
    // Apple's name for swift-crypto, with the keys of the enclave that only Apple's has.
    target(
        "VaubanCryptoKit", in: "Callers",
        ["VaubanSecurity", "VaubanLocalAuthentication", "VaubanRefusal", "VaubanAccessPolicy", "VaubanKeyWire", crypto]),
    // One call for a program's own main, which keeps the user's other programs out of it. Separate, since it needs no keychain.
    target("VaubanProtection", in: "Callers", ["VaubanLinuxHost", "CVaubanProtection"]),
    // The state of a right as a publisher. Separate, so that only its importers need OpenCombine.
    target("VaubanCombine", in: "Callers", ["VaubanLocalAuthentication", .product(name: "OpenCombine", package: "OpenCombine")]),
]

let transport: [Target] = [
    // App Transport Security as a pure function, the property list that it reads, and what a certificate must have. No network.
    target("VaubanTransportPolicy", in: "Transport", [asn1, crypto]),
    // Its enforcement for swift-nio-ssl and AsyncHTTPClient. Without the trait `Transport` it is empty.
    target(
        "VaubanTransport", in: "Transport",
        [
            "VaubanTransportPolicy", transportDependency("X509", "swift-certificates"), transportDependency("NIOCore", "swift-nio"),
            transportDependency("NIOPosix", "swift-nio"), transportDependency("NIOSSL", "swift-nio-ssl"),
            transportDependency("NIOHTTP1", "swift-nio"), transportDependency("NIOTLS", "swift-nio"), asn1,
            transportDependency("AsyncHTTPClient", "async-http-client"),
        ], settings: transportSettings),
    // The files of vauban sync as keys of etcd: requests and permitted replies. No network.
    target("VaubanEtcd", in: "Transport", ["VaubanSyncCarrierWire", "VaubanJSON", crypto]),
]

let transportPrograms: [Target] =
    buildsTransport
    ? [
        // `vauban ats`, separate from `vauban`, which has no network library.
        target(
            "TransportCommand", in: "Transport",
            [
                "VaubanTransport", "VaubanTransportPolicy", "VaubanLinuxHost",
                .product(name: "AsyncHTTPClient", package: "async-http-client"), .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        // Carries the files of vauban sync to etcd and back, for the command line.
        target(
            "SyncEtcd", in: "Transport",
            [
                "VaubanEtcd", "VaubanSyncCarrierWire", "VaubanLinuxHost", "VaubanRoomHardening",
                .product(name: "AsyncHTTPClient", package: "async-http-client"), .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"), .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]),
        // The one room with a network: asks websites which applications they list.
        target(
            "Fetcher", in: "Rooms/Fetcher",
            [
                "VaubanAssociationsWire", "VaubanAssociations", "VaubanTransport", "VaubanTransportPolicy", "VaubanDER", "VaubanLinuxHost",
                "VaubanRoomHardening", .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"), log,
            ]),
        // These three are one executable, since most of it is the HTTP client and the TLS library.
        program("vauban-network", in: "Transport", ["Fetcher", "SyncEtcd", "TransportCommand"]),
    ] : []

/// The names of that executable. SwiftPM links it once for each; `scripts/build-programs` keeps one.
let networkPrograms: [Product] =
    buildsTransport
    ? ["vauban-ats", "vauban-fetcher", "vauban-sync-etcd"].map { .executable(name: $0, targets: ["vauban-network"]) } : []

let translators: [Target] = [
    // The keychain's keys for SSH, at its own socket.
    target(
        "SSHAgent", in: "Translators",
        [
            "VaubanUserModel",
            "VaubanSSHWire", "VaubanKeychainClient", "VaubanAuthenticationClient", "VaubanKeyWire", "VaubanKeychainModel",
            "VaubanRefusal", "VaubanPlainText", "VaubanSecretBytes", "VaubanLinuxHost", "VaubanRoomHardening", crypto, cryptoExtras,
        ]),
    program("vauban-ssh-agent", in: "Translators", ["SSHAgent"]),
    // Marked C: powers modulo a prime, by libgcrypt, which libsystemd brings along. The key agreement of the Secret Service needs them.
    .target(name: "CVaubanGroup", path: "Sources/Translators/CVaubanGroup", linkerSettings: [.linkedLibrary("gcrypt")]),
    // The Secret Service of freedesktop.org over the keychain, on the session bus.
    target(
        "SecretService", in: "Translators",
        [
            "CVaubanGroup", "CVaubanBus", "VaubanKeychainClient", "VaubanAuthenticationClient", "VaubanKeychainWire", "VaubanKeychainModel",
            "VaubanAccessPolicy", "VaubanUserModel", "VaubanRefusal", "VaubanPlainText", "VaubanSecretBytes", "VaubanDER",
            "VaubanLinuxHost",
            "VaubanRoomHardening", crypto, cryptoExtras,
        ]),
    program("vauban-secret-service", in: "Translators", ["SecretService"]),
    // Passwords for the browser's extension, over native messaging.
    target(
        "BrowserHost", in: "Translators",
        [
            "VaubanKeychainClient", "VaubanAuthenticationClient", "VaubanKeychainWire", "VaubanKeychainModel", "VaubanAccessPolicy",
            "VaubanOneTimeCodes", "VaubanPasswordRules", "VaubanJSON", "VaubanSecretText", "VaubanRefusal", "VaubanPlainText",
            "VaubanBrowserSetup", "VaubanSecretBytes", "VaubanLinuxHost",
        ]),
    program("vauban-browser-host", in: "Translators", ["BrowserHost"]),
]

let commandLine: [Target] = [
    // Marked C: zlib, for the ZIP archive that 1Password exports. Only the command line uses it.
    .target(name: "CVaubanZlib", path: "Sources/CommandLine/CVaubanZlib", linkerSettings: [.linkedLibrary("z")]),
    // Marked C: Expat, for the XML that KeePass and KeePassXC export. Only the command line uses it.
    .target(name: "CVaubanXML", path: "Sources/CommandLine/CVaubanXML", linkerSettings: [.linkedLibrary("expat")]),
    // The command line's verbs: for people who know `security`, `secret-tool`, `pass`.
    target(
        "VaubanCommands", in: "CommandLine",
        [
            "VaubanKeychainClient", "VaubanKeyWire", "VaubanSSHWire", "VaubanAuthenticationClient", "VaubanKeychainWire",
            "VaubanOneTimeCodes", "VaubanPasswordRules", "VaubanJSON", "VaubanSecretText", "VaubanKeychainModel", "VaubanRefusal",
            "VaubanPlainText", "VaubanPasscode", "VaubanUserModel", "VaubanSyncModel", "VaubanSyncCarrierWire", "VaubanLogHead",
            "VaubanSignedNote",
            "VaubanAccessPolicy", "VaubanBrowserSetup", "VaubanCodeSigning",
            "VaubanSecretBytes", "VaubanDER", "VaubanLinuxHost", "CVaubanLinux", "CVaubanZlib", "CVaubanXML",
            "VaubanPasscodeEstimate", crypto, cryptoExtras, .product(name: "ArgumentParser", package: "swift-argument-parser"),
        ]),
    // Their process.
    program("vauban", in: "CommandLine", ["VaubanCommands"]),
    // The keychain as the desktop application shows it, without a display: rows, search, pages, changes. It shares tags, URLs, generated
    // passwords and the names of codes with the command line.
    target(
        "DesktopKeychain", in: "CommandLine",
        [
            "VaubanCommands", "VaubanSSHWire", "VaubanKeychainClient", "VaubanAuthenticationClient", "VaubanKeychainWire",
            "VaubanKeychainModel", "VaubanOneTimeCodes", "VaubanAccessPolicy", "VaubanUserModel", "VaubanRefusal", "VaubanPlainText",
            "VaubanSecretBytes", "VaubanLinuxHost", crypto,
        ]),
]

func caller(_ name: String) -> Target {
    .executableTarget(name: name, dependencies: appleModules, path: "Sources/Testing/\(name)", swiftSettings: house, linkerSettings: quiet)
}

let testing: [Target] = [
    // The rooms as tests run them, with a cheap key derivation, moved clocks and a private bus; never installed. Each of its processes is
    // one room. Separate programs would each link most of it.
    program(
        "rooms-testing", in: "Testing",
        ["EnclaveRoom", "Enclave", "Keychain", "Launcher", "Watcher", "FingerprintReader", "VaubanLinuxHost"]),
    // The command line, but it compacts the files of vauban sync early and is killed where a test says; never installed.
    program("vauban-compaction-testing", in: "Testing", ["VaubanCommands"]),
    // A program that stores secrets by Apple's API, for tests of who sees what.
    caller("keychain-caller"),
    // Combines what tests claim with what the runner saw.
    program("acceptance", in: "Testing", []),
    // Plays a user at a terminal: a command on a new pty, and a script of what to expect and what to type.
    program("pty-play", in: "Testing", ["VaubanLinuxHost", "CVaubanLinux"]),
    // A disk that loses, reorders and tears unsynced writes, under the state files' own algorithm.
    target("SimulatedHost", in: "Testing", ["VaubanLinuxHost"]),
    // Marked C: a record of what SQLite does to its files, to build the disks that a power cut could leave behind.
    .target(name: "CSQLiteRecorder", path: "Sources/Testing/CSQLiteRecorder", linkerSettings: [.linkedLibrary("sqlite3")]),
    // Marked C: raw system calls, and the attempts on another process that a debugger would make.
    .target(name: "CVaubanProbe", path: "Sources/Testing/CVaubanProbe", linkerSettings: [.linkedLibrary("seccomp")]),
    // Tries what a compromised room would try, from inside a room's confinement and from outside.
    program(
        "hardening-probe", in: "Testing",
        ["VaubanRoomHardening", "VaubanLinuxHost", "VaubanSecretBytes", "VaubanProtection", "CVaubanProbe"]),
    // The reports of every fuzzer.
    target("FuzzFinding", in: "Testing"),
    // The code that `make fuzz` runs, as do the tests over the inputs that it kept.
    target(
        "FuzzHarness", in: "Testing",
        [
            "FuzzFinding", "VaubanUserWire", "VaubanKeyWire", "Enclave", "EnclaveWire", "VaubanRefusal", "VaubanPasscode",
            "VaubanUserModel",
            "VaubanSyncModel", "VaubanLogHead", "VaubanSignedNote", "VaubanAccessPolicy", "VaubanSecretBytes", "VaubanDER",
            "VaubanCodeSigning", crypto,
        ]),
    // The same for keychaind: its socket, and rows that another program wrote.
    target(
        "KeychainFuzzing", in: "Testing",
        [
            "FuzzFinding", "Keychain", "KeychainStore", "EnclaveWire", "VaubanKeychainWire", "VaubanKeychainModel", "VaubanSyncModel",
            "VaubanRefusal",
            "VaubanAccessPolicy", "VaubanSecretBytes", "VaubanDER", crypto, asn1,
        ]),
    // The same for certificates, in Apple's names.
    target("CertificateFuzzing", in: "Testing", ["FuzzFinding", "VaubanSecurity"]),
    // The same for property lists with exceptions from transport security, and for the executables that they are in.
    target("TransportFuzzing", in: "Testing", ["FuzzFinding", "VaubanTransportPolicy"]),
    // The declaration of libFuzzer's entry point. Only `make fuzz` links the engine itself.
    .target(name: "CFuzzer", path: "Sources/Testing/CFuzzer"),
    .executableTarget(
        name: "fuzz", dependencies: ["CFuzzer", "FuzzHarness", "KeychainFuzzing", "CertificateFuzzing", "TransportFuzzing"],
        path: "Sources/Testing/fuzz", swiftSettings: house,
        linkerSettings: isFuzzing ? [.unsafeFlags(["-sanitize=address"]), .linkedLibrary("stdc++")] : []),
    .target(name: "TestSupport", path: "Tests/Support", swiftSettings: house),
    tests("WallsTests", [], optimized: true),
    tests(
        "ValuesTests",
        [
            "VaubanOneTimeCodes", "VaubanPasswordRules", "VaubanAssociations", "VaubanAssociationsWire", "VaubanSSHWire", "VaubanUserWire",
            "VaubanKeyWire", "VaubanSecretBytes", "VaubanDER", "VaubanRefusal",
            "VaubanPlainText",
            "VaubanPasscode", "VaubanUserModel", "VaubanSyncModel", "VaubanAccessPolicy",
            "VaubanKeychainModel", "VaubanKeychainWire", "VaubanAuthenticationWire", "EnclaveWire", "FuzzHarness", "VaubanCodeSigning",
            "VaubanLogHead", "VaubanSignedNote",
            asn1,
            crypto,
        ], optimized: true),
    tests(
        "HostTests",
        [
            "VaubanPlainText", "VaubanUserModel", "VaubanCodeSigning",
            "SimulatedHost", "VaubanLinuxHost", "VaubanRoomHardening", "VaubanRoomLog", "VaubanSecretBytes", "VaubanRefusal",
            "VaubanAccessPolicy",
            "VaubanDER",
            "EnclaveWire", "Launcher", "Witness", "Watcher", "SecretService", "SSHAgent", "VaubanSSHWire", "CVaubanLinux", "CVaubanProbe",
            crypto, log,
        ]),
    tests(
        "AuthenticationTests",
        [
            "Authentication", "FingerprintReader", "VaubanAuthenticationWire", "VaubanUserWire", "EnclaveWire", "VaubanRefusal",
            "VaubanUserModel", "VaubanAccessPolicy",
            "VaubanDER", "VaubanLinuxHost", log,
        ]),
    // A second implementation of the key hierarchy's specification, for tests of the enclave and of what is left in memory.
    .target(
        name: "EnclaveBook",
        dependencies: ["VaubanKeyWire", "Enclave", "EnclaveWire", "VaubanDER", "VaubanSecretBytes", crypto, cryptoExtras, asn1],
        path: "Tests/EnclaveBook", swiftSettings: house),
    tests(
        "EnclaveTests",
        [
            "VaubanUserWire", "VaubanKeyWire", "EnclaveBook", "SimulatedHost", "FuzzHarness", "Enclave", "EnclaveRoom", "EnclaveSoftware",
            "EnclaveWire", "VaubanSyncModel", "VaubanLogHead", "VaubanSignedNote",
            "VaubanRefusal", "VaubanPasscode", "VaubanUserModel", "VaubanAccessPolicy", "VaubanSecretBytes", "VaubanDER", "VaubanLinuxHost",
            crypto,
        ], optimized: true),
    // The enclave against a model of it, over the simulated disk: every short sequence, and long ones by seed.
    tests(
        "SimulationTests",
        [
            "SimulatedHost", "Enclave", "EnclaveSoftware", "EnclaveWire", "VaubanRefusal", "VaubanPasscode", "VaubanUserModel",
            "VaubanAccessPolicy", "VaubanSecretBytes", "VaubanDER",
            "VaubanLinuxHost",
        ], optimized: true),
    tests(
        "KeychainTests",
        [
            "VaubanPlainText",
            "CSQLiteRecorder", "SimulatedHost", "KeychainFuzzing", "Keychain", "KeychainStore",
            .product(name: "GRDB", package: "GRDB.swift"), "VaubanKeychainModel", "VaubanRefusal", "VaubanUserModel", "VaubanAccessPolicy",
            "VaubanSecretBytes", "VaubanDER", "VaubanSyncModel", "VaubanLogHead", "VaubanSignedNote",
            "EnclaveWire", "VaubanKeychainWire", "VaubanLinuxHost", crypto, log,
        ]),
    tests("SecurityTests", appleModules + [crypto, "CertificateFuzzing"]),
    // The command line without a terminal and without rooms: names, tables, documents, imports.
    tests(
        "CommandLineTests",
        [
            "VaubanCommands", "VaubanPasswordRules", "VaubanJSON", "VaubanSecretText", "VaubanAccessPolicy", "VaubanRefusal",
            "VaubanUserModel", "VaubanKeychainModel", "VaubanSecretBytes", "VaubanSyncModel", "VaubanLogHead", "VaubanSignedNote",
            "VaubanLinuxHost", "VaubanKeychainWire", "VaubanKeychainClient", "VaubanDER", crypto,
            .product(name: "ArgumentParser", package: "swift-argument-parser"),
        ]),
    // The desktop application without a display and without rooms.
    tests(
        "DesktopKeychainTests",
        [
            "DesktopKeychain", "VaubanCommands", "VaubanKeychainWire", "VaubanKeychainModel", "VaubanAccessPolicy", "VaubanUserModel",
            "VaubanRefusal", "VaubanSecretBytes",
        ]),
    // The browser's host without rooms: messages, origins, matches, generated passwords.
    tests(
        "BrowserHostTests",
        ["BrowserHost", "VaubanBrowserSetup", "VaubanKeychainModel", "VaubanPasswordRules", "VaubanSecretBytes", "VaubanSecretText"]),
    tests("TransportPolicyTests", ["VaubanTransportPolicy", "TransportFuzzing"]),
    // The carrier of vauban sync without a network: what a hostile etcd answers, names, limits, and a model of etcd.
    tests("EtcdTests", ["VaubanEtcd", "VaubanSyncCarrierWire"]),
    tests(
        "PromptTests",
        [
            "VaubanPrompt", "VaubanPasscodeEstimate", "VaubanAuthenticationClient", "VaubanUserModel", "VaubanAccessPolicy",
            "VaubanSecretBytes",
        ]),
    tests("LocalAuthenticationTests", appleModules),
    tests("VaubanKeychainTests", ["VaubanKeychain"] + appleModules),
    // Client library to storage, through the real rooms over their sockets.
    // Its folder Conformance is a suite in Apple's names alone.
    tests(
        "RoomsTests",
        appleModules + [
            "VaubanUserWire", "VaubanKeyWire", "EnclaveBook", "Enclave", "EnclaveWire", "KeychainStore", crypto, "VaubanRoomHardening",
            "VaubanKeychain", "VaubanKeychainClient", "VaubanAuthenticationClient", "VaubanAuthenticationWire", "VaubanKeychainModel",
            "VaubanKeychainWire", "VaubanRefusal", "VaubanPasscode", "VaubanUserModel", "VaubanAccessPolicy", "VaubanSecretBytes",
            "VaubanSyncModel", "VaubanLinuxHost", "VaubanDER", "CVaubanLinux",
            "VaubanCombine", .product(name: "OpenCombine", package: "OpenCombine"),
        ]),
    // The programs of Examples, as their users run them: processes, over the rooms as shipped.
    tests("ExamplesTests", []),
]

// Transport security against servers in the same process: what a handler and a client accept. The lists of websites that the fetcher keeps.
let transportTests: [Target] =
    buildsTransport
    ? [
        tests(
            "TransportTests",
            [
                "VaubanTransport", "VaubanTransportPolicy", "Fetcher", "VaubanAssociationsWire", crypto,
                .product(name: "X509", package: "swift-certificates"), asn1,
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOTLS", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"), .product(name: "AsyncHTTPClient", package: "async-http-client"),
            ])
    ] : []

// Programs that use the products' modules as any application would.
let applications: [Target] = [
    applicationModule("TokenStoring", in: "Examples", appleModules),
    applicationModule("OwnerGate", in: "Examples", appleModules),
    application("KeychainSample", in: "Examples", ["TokenStoring"] + appleModules),
    application("AuthenticationSample", in: "Examples", ["OwnerGate", "TokenStoring"] + appleModules),
    application("LoginSample", in: "Examples", ["OwnerGate", "TokenStoring"] + appleModules),
    application("OccasionsSample", in: "Examples", appleModules),
    application("ApplicationPasswordSample", in: "Examples", appleModules),
    application("RightsSample", in: "Examples", appleModules),
    // The two ends of a second factor, and the messages between them.
    applicationModule("Approval", in: "Examples", []),
    application("SecondFactor", in: "Examples", ["Approval"] + appleModules),
    application("RelyingParty", in: "Examples", ["Approval"] + appleModules),
    // This one speaks to VaubanKeychain, which is the same on every system.
    application("TokenKeeper", in: "Examples", ["VaubanKeychain"]),
    // Measures Vauban as an application sees it, and for comparison the least that the machine needs for the same work: the system's own
    // database library.
    .systemLibrary(name: "CSQLite", path: "Benchmarks/Sources/CSQLite", providers: [.apt(["libsqlite3-dev"])]),
    application("benchmarks", in: "Benchmarks", ["CSQLite", "VaubanTransportPolicy"] + appleModules),
]

// The windows: the one that prompts on a desktop, and the application. They are drawn with GTK 4, and built only if VAUBAN_GTK is in the
// environment, so that nothing else needs GTK to build.
let sheet: [Target] =
    Context.environment["VAUBAN_GTK"] == nil
    ? []
    : [
        // GTK, and in C what Swift cannot express: casts, signals, variadic functions.
        .systemLibrary(name: "CGtk", path: "Sheet/Sources/CGtk", pkgConfig: "gtk4", providers: [.apt(["libgtk-4-dev"])]),
        // The window, without any decision. It sees only public names.
        .executableTarget(
            name: "vauban-sheet", dependencies: ["CGtk", "VaubanPrompt"], path: "Sheet/Sources/vauban-sheet", packageAccess: false,
            swiftSettings: house, linkerSettings: resolvedAtStart),
        // The desktop application: the window of DesktopKeychain. With the rooms' `free`, it erases what GTK frees.
        .executableTarget(
            name: "vauban-desktop",
            dependencies: ["CGtk", "CVaubanConfinement", "DesktopKeychain", "VaubanLinuxHost", "VaubanSecretBytes"],
            path: "Desktop/Sources/vauban-desktop", swiftSettings: house, linkerSettings: resolvedAtStart),
    ]

// Rights as publishers. SwiftPM fetches for a client what any product reaches, used or not, so this product exists only if VAUBAN_COMBINE
// is in the environment.
let combine: [Product] = Context.environment["VAUBAN_COMBINE"] == nil ? [] : [.library(name: "VaubanCombine", targets: ["VaubanCombine"])]

let package = Package(
    name: "vauban",
    products: [
        // The products for an application. For these two, SwiftPM fetches swift-asn1, swift-crypto and swift-certificates.
        .library(name: "VaubanApple", targets: ["VaubanSecurity", "VaubanLocalAuthentication", "VaubanCryptoKit", "VaubanAppleNames"]),
        // The Swift-native interface, the same on Linux and on Apple's systems.
        .library(name: "VaubanKeychain", targets: ["VaubanKeychain"]),
        // For a program's own main: keeps the user's other programs out of it.
        .library(name: "VaubanProtection", targets: ["VaubanProtection"]),
        // For prompt agents, which are not applications: prompts, and the few possible answers.
        .library(name: "VaubanPrompt", targets: ["VaubanPrompt"]),
        // App Transport Security: the decision, and with the trait `Transport` its enforcement for AsyncHTTPClient and swift-nio-ssl.
        .library(name: "VaubanTransportPolicy", targets: ["VaubanTransportPolicy"]),
        .library(name: "VaubanTransport", targets: ["VaubanTransport", "VaubanTransportPolicy"]),
    ] + combine + networkPrograms,
    traits: [
        .trait(name: "Transport", description: "VaubanTransport, for swift-nio-ssl and AsyncHTTPClient")
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-asn1.git", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.0"),
        .package(url: "https://github.com/apple/swift-certificates.git", from: "1.21.0"),
        .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.0"),
        .package(url: "https://github.com/OpenCombine/OpenCombine.git", from: "0.14.0"),
        // Only with the trait `Transport`.
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.0"),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
    ],
    targets: values + contracts + host + enclave + keychain + authentication + attendants + callers + transport + transportPrograms
        + translators + commandLine + testing
        + transportTests + applications + sheet
)

#else

// Apple's systems have the real modules; the product keeps its name, so that a shared manifest needs no condition. VaubanKeychain has the
// same sources, over Apple's own modules. Its minimum systems are the oldest with Swift concurrency.
let package = Package(
    name: "vauban",
    platforms: [.macOS(.v10_15), .iOS(.v13), .tvOS(.v13), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "VaubanApple", targets: ["VaubanOnApple"]),
        .library(name: "VaubanKeychain", targets: ["VaubanKeychain"]),
    ],
    targets: [
        .target(name: "VaubanOnApple", path: "Sources/Callers/VaubanOnApple"),
        // Without warnings as errors: a build there must not fail because a newer system deprecates something.
        .target(name: "VaubanKeychain", path: "Sources/Callers/VaubanKeychain", swiftSettings: Array(house.dropFirst())),
    ]
)

#endif
