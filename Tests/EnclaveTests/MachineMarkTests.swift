import EnclaveSoftware
import Foundation
import TestSupport
import Testing
import VaubanLinuxHost

/// The mark of the machine beside the device secret.
@Suite final class MachineMarkTests {
    private let path: String
    private let folder: PrivateFolder
    private static let id = "0123456789abcdef0123456789abcdef\n"
    private static let otherID = "fedcba9876543210fedcba9876543210\n"

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("vauban-mark-\(UUID().uuidString)").path
        folder = try PrivateFolder(path: path, creating: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    private var mark: String { path + "/machine" }
    private func content() throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: mark))) }

    @Test("The first start writes the machine file as specified") func theFirstStartLeavesTheMarkOfTheSpecification() throws {
        #expect(MachineFingerprint.warning(in: folder, machineID: Self.id) == nil)
        #expect(try content() == SpecDocument("state-files").example("machine of the id 0123456789abcdef0123456789abcdef"))
        #expect(MachineFingerprint.warning(in: folder, machineID: Self.id) == nil)
    }

    @Test("Another machine causes a warning and the file stays") func otherMachineIsReportedAndTheMarkIsKept() throws {
        #expect(MachineFingerprint.warning(in: folder, machineID: Self.id) == nil)
        let before = try content()
        for _ in 1...2 {
            let warning = try #require(MachineFingerprint.warning(in: folder, machineID: Self.otherID))
            #expect(warning.hasPrefix("this machine is a copy") && warning.contains(mark))
            #expect(warning.utf8.count < 500)
        }
        #expect(try content() == before)
        // The remedy that the warning names.
        try FileManager.default.removeItem(atPath: mark)
        #expect(MachineFingerprint.warning(in: folder, machineID: Self.otherID) == nil)
        #expect(try content() != before)
    }

    @Test(
        "A machine without a valid ID is not checked and gets no file",
        arguments: [
            nil, "", "\n", "uninitialized\n", String(repeating: "0", count: 32) + "\n", "0123456789abcdef",
            "0123456789ABCDEF0123456789ABCDEF\n", "0123456789abcdef0123456789abcdef0\n",
        ])
    func machineWithoutAnIDIsNotCheckedAndGetsNoFile(_ text: String?) throws {
        #expect(MachineFingerprint.warning(in: folder, machineID: text) == nil)
        #expect(!FileManager.default.fileExists(atPath: mark))
        // An existing fingerprint is not compared with an invalid machine ID either.
        #expect(MachineFingerprint.warning(in: folder, machineID: Self.id) == nil)
        #expect(MachineFingerprint.warning(in: folder, machineID: text) == nil)
    }

    @Test("An unreadable machine file causes a warning and stays") func invalidMarkIsReportedAndKept() throws {
        _ = MachineFingerprint.warning(in: folder, machineID: Self.id)
        let good = try content()
        let later = Array("vauban machine 2\n".utf8) + good.dropFirst(17)
        for bytes in [[], Array(good.dropLast(2)), good + [10], later, [UInt8](repeating: 97, count: 300)] {
            try Data(bytes).write(to: URL(fileURLWithPath: mark))
            #expect(MachineFingerprint.warning(in: folder, machineID: Self.id)?.contains("cannot tell whether") == true)
            #expect(try content() == bytes)
        }
    }

    @Test("A machine file that cannot be written is written later") func aMarkThatCannotBeWrittenWaits() throws {
        let place = path + "/machine.new"
        // A folder in place of the file that is written first.
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        #expect(MachineFingerprint.warning(in: folder, machineID: Self.id) == nil)
        #expect(!FileManager.default.fileExists(atPath: mark))
        try FileManager.default.removeItem(atPath: place)
        #expect(MachineFingerprint.warning(in: folder, machineID: Self.id) == nil)
        #expect(FileManager.default.fileExists(atPath: mark))
    }
}
