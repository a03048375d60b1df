import Foundation
import FuzzHarness
import TestSupport
import Testing

/// Runs the inputs that the fuzzers kept (Fuzz/Corpus) once more without an engine. Each of them reaches code that no other input reaches,
/// and revealed no error when it was kept.
@Suite struct FuzzCorpusTests {
    private static let corpus = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Fuzz/Corpus")

    private static func inputs(_ target: String) throws -> [(name: String, bytes: [UInt8])] {
        try FileManager.default.contentsOfDirectory(at: corpus.appendingPathComponent(target), includingPropertiesForKeys: nil)
            .map { ($0.lastPathComponent, [UInt8](try Data(contentsOf: $0))) }
    }

    @Test("Kept fuzzer messages break no invariant") func keptMessagesBreakNoInvariant() throws {
        let fuzzing = try WireFuzzing()
        let inputs = try Self.inputs("wire")
        #expect(inputs.count >= 50)
        for input in inputs { #expect(throws: Never.self, "\(input.name)") { try fuzzing.run(input.bytes) } }
        print("fuzzing: \(inputs.count) kept conversations at the enclave's socket")
    }

    @Test("Kept fuzzer state files break no invariant") func keptStateFilesBreakNoInvariant() throws {
        let fuzzing = try StateFuzzing()
        let inputs = try Self.inputs("state")
        #expect(inputs.count >= 50)
        for input in inputs { #expect(throws: Never.self, "\(input.name)") { try fuzzing.run(input.bytes) } }
        print("fuzzing: \(inputs.count) kept state files")
    }

    /// The corpus is small enough to be kept beside the code.
    @Test("The fuzzing corpus stays small") func theCorpusStaysSmall() throws {
        let bytes = try ["wire", "state"].flatMap { try Self.inputs($0) }.map(\.bytes.count)
        #expect(bytes.count <= 2000 && bytes.reduce(0, +) <= 1 << 20)
    }

    /// Inputs that never open a key would prove nothing.
    @Test("The seed inputs of the fuzzers open the keys that they should") func theFirstInputsOpenWhatTheyShould() throws {
        let wire = try WireFuzzing()
        let opened = try WireFuzzing.seeds().map { try wire.run($0) }
        #expect(opened.allSatisfy { $0 > 0 }, "\(opened)")
        let state = try StateFuzzing()
        let seeds = try StateFuzzing.seeds()
        // With the passcode every row opens, in addition to the leased keys; without one, rows of the classes that the device wraps do.
        for seed in seeds where seed.count > 7 || seed.count == 4 { #expect(try state.run(seed) >= 10, "mode \(seed[0])") }
        #expect(try state.run(seeds[0]) >= 40)
        // The inputs that change a keybag must find it changed in most cases; otherwise they change nothing.
        let changed = try seeds.filter { $0.count == 7 }.map { try state.run($0) }
        #expect(Set(changed).count >= 5, "\(changed)")
    }
}
