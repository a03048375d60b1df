// swift-tools-version: 6.2
// Fuzzes the doors of the enclave and the keychain, state files, rows and certificates with libFuzzer, which the Swift toolchain brings. The targets are Vauban's
// own folders, as links: so they alone carry the instruments, and the main manifest knows nothing of them.
import PackageDescription

/// Counters at every edge and comparison, and the address sanitizer.
let instruments: [SwiftSetting] = [
    .unsafeFlags(["-sanitize=fuzzer,address"]),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("ExistentialAny"),
]

let asn1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")

func target(_ path: String, _ dependencies: [Target.Dependency], excluding excluded: [String] = []) -> Target {
    let name = String(path[path.index(after: path.lastIndex(of: "/") ?? path.startIndex)...])
    return .target(name: name, dependencies: dependencies, path: "Vauban/\(path)", exclude: excluded, swiftSettings: instruments)
}

let log = Target.Dependency.product(name: "Logging", package: "swift-log")

func fuzzer(_ name: String, _ harness: Target.Dependency) -> Target {
    .executableTarget(
        name: name, dependencies: ["CFuzzer", harness], swiftSettings: instruments,
        linkerSettings: [.unsafeFlags(["-sanitize=address"]), .linkedLibrary("stdc++")])
}

let package = Package(
    name: "fuzz",
    dependencies: [
        .package(url: "https://github.com/apple/swift-asn1.git", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.0"),
        .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.0"),
    ],
    targets: [
        target("Values/VaubanSecretBytes", []),
        target("Values/VaubanDER", [asn1]),
        target("Values/VaubanAccessPolicy", ["VaubanSecretBytes", "VaubanDER", asn1]),
        target("Contracts/VaubanPersonWire", ["VaubanAccessPolicy", "VaubanDER", asn1]),
        target("Contracts/EnclaveWire", ["VaubanPersonWire", "VaubanAccessPolicy", "VaubanDER", asn1]),
        .target(name: "CVaubanLinux", path: "Vauban/Host/CVaubanLinux"),
        target("Host/VaubanLinuxHost", ["CVaubanLinux", "VaubanSecretBytes", "VaubanAccessPolicy", "VaubanDER", asn1]),
        target(
            "Enclave/Enclave",
            ["EnclaveWire", "VaubanPersonWire", "VaubanAccessPolicy", "VaubanSecretBytes", "VaubanDER", "VaubanLinuxHost", asn1, crypto, cryptoExtras]),
        target("Enclave/EnclaveConnection", ["EnclaveWire", "VaubanPersonWire", "VaubanAccessPolicy", "VaubanSecretBytes", "VaubanDER", "VaubanLinuxHost"]),
        target("Testing/FuzzHarness", ["Enclave", "EnclaveWire", "VaubanPersonWire", "VaubanAccessPolicy", "VaubanSecretBytes", "VaubanDER", crypto]),
        target("Values/VaubanKeychainModel", ["VaubanAccessPolicy", "VaubanDER", asn1]),
        target("Contracts/VaubanKeychainWire", ["VaubanKeychainModel", "VaubanAccessPolicy", "VaubanDER", asn1]),
        target(
            "Keychain/KeychainStore",
            ["VaubanKeychainModel", "VaubanAccessPolicy", "VaubanDER", "VaubanLinuxHost", .product(name: "GRDB", package: "GRDB.swift"), asn1]),
        // Without the room as a process: how it shuts itself in brings a `free` of its own, which the sanitizer must have.
        target(
            "Keychain/Keychain",
            [
                "KeychainStore", "EnclaveConnection", "EnclaveWire", "VaubanKeychainWire", "VaubanKeychainModel", "VaubanAccessPolicy", "VaubanSecretBytes", "VaubanDER",
                "VaubanLinuxHost", asn1, crypto, log,
            ], excluding: ["KeychainRoom.swift", "KeychainDoor.swift", "LeaseConnection.swift", "EnclaveConnection.swift"]),
        target(
            "Testing/KeychainFuzzing",
            [
                "Keychain", "KeychainStore", "EnclaveWire", "VaubanKeychainWire", "VaubanKeychainModel", "VaubanAccessPolicy", "VaubanSecretBytes",
                "VaubanDER", asn1, crypto,
            ]),
        // Apple's names, as far as certificates go: nothing here speaks to a room.
        target(
            "Callers/VaubanKeychainClient",
            ["VaubanKeychainWire", "VaubanKeychainModel", "VaubanAccessPolicy", "VaubanSecretBytes", "VaubanDER", "VaubanLinuxHost", asn1, crypto]),
        target(
            "Callers/VaubanSecurity",
            [
                "VaubanKeychainClient", "VaubanKeychainWire", "VaubanKeychainModel", "VaubanAccessPolicy", "VaubanSecretBytes", "VaubanLinuxHost",
                asn1, crypto,
            ]),
        target("Testing/CertificateFuzzing", ["VaubanSecurity"]),
        // libFuzzer's entry, declared.
        .target(name: "CFuzzer"),
        fuzzer("fuzz-wire", "FuzzHarness"), fuzzer("fuzz-state", "FuzzHarness"),
        fuzzer("fuzz-keychain", "KeychainFuzzing"), fuzzer("fuzz-row", "KeychainFuzzing"),
        fuzzer("fuzz-certificate", "CertificateFuzzing"),
        // Writes the first inputs of all.
        .executableTarget(
            name: "fuzz-seeds", dependencies: ["FuzzHarness", "KeychainFuzzing"], swiftSettings: instruments,
            linkerSettings: [.unsafeFlags(["-sanitize=address"])]),
    ]
)
