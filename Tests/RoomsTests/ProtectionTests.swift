import Foundation
import TestSupport
import Testing
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanLinuxHost
import VaubanRefusal
import VaubanRoomHardening
import VaubanUserModel

/// Missing protections of a machine: the enclave works without them, and `status` reports what is lost.
@Suite("Protections") struct ProtectionTests {
    /// A word of each sentence, by the feature whose loss it reports.
    private static let words: [HardeningFeature: String] = [
        .landlock: "Landlock", .seccomp: "filter of system calls", .memfdSecret: "hibernation image", .mlock: "swap space",
    ]

    @Test("The shipped enclave lacks only the protections that the machine lacks")
    func theShippedEnclaveLacksOnlyWhatTheMachineLacks() throws {
        let rooms = try Rooms(launcher: "vauban-launcher")
        let warnings = try rooms.authentication.status().device.warnings
        let expected = SecretArena().missing.union(RoomHardening.lackedByKernel)
        for feature in HardeningFeature.allCases {
            let isTold = warnings.contains { $0.contains(Self.words[feature] ?? "?") }
            #expect(isTold == expected.contains(feature), "\(feature): \(warnings)")
        }
    }

    @Test(
        "The enclave reports missing protections and works without them",
        arguments: [[HardeningFeature.landlock], [.seccomp], [.memfdSecret], [.memfdSecret, .mlock], HardeningFeature.allCases])
    func enclaveReportsMissingFeaturesAndWorks(_ features: [HardeningFeature]) throws {
        let rooms = try Rooms(enclaveArguments: ["--without", features.map(\.rawValue).joined(separator: ",")])
        try rooms.setPasscode()
        try rooms.add("s", "a", "kept all the same")
        _ = try rooms.authentication.lock()
        #expect(refusal { _ = try rooms.read("s", "a") } == .locked)
        try rooms.unlock()
        #expect(try rooms.read("s", "a") == "kept all the same")
        let warnings = try rooms.authentication.status().device.warnings
        for feature in features { #expect(warnings.contains { $0.contains(Self.words[feature] ?? "?") }, "\(feature): \(warnings)") }
        let expected = SecretArena(without: Set(features)).missing.union(features).union(RoomHardening.lackedByKernel)
        #expect(warnings.count == expected.count, "\(warnings)")
    }
}
