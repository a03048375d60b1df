import Foundation
import KeychainFuzzing
import Testing

/// Runs the inputs that the keychain's fuzzers kept (Fuzz/Corpus) once more without an engine.
@Suite struct KeychainFuzzTests {
    private static let corpus = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Fuzz/Corpus")

    private static func inputs(_ target: String) throws -> [(name: String, bytes: [UInt8])] {
        try FileManager.default.contentsOfDirectory(at: corpus.appendingPathComponent(target), includingPropertiesForKeys: nil)
            .map { ($0.lastPathComponent, [UInt8](try Data(contentsOf: $0))) }
    }

    @Test("Messages of the fuzz corpus violate no invariant") func corpusMessagesHoldInvariants() throws {
        let inputs = try Self.inputs("keychain")
        #expect(inputs.count >= 50 && inputs.count <= 1000)
        for input in inputs { #expect(throws: Never.self, "\(input.name)") { try KeychainSocketFuzzing.run(input.bytes) } }
    }

    @Test("Rows of the fuzz corpus violate no invariant") func corpusRowsHoldInvariants() throws {
        let inputs = try Self.inputs("row")
        #expect(inputs.count >= 50 && inputs.count <= 1000)
        for input in inputs { #expect(throws: Never.self, "\(input.name)") { try RowFuzzing.run(input.bytes) } }
    }

    /// Inputs that are refused at once would prove nothing.
    @Test("Seed inputs are valid") func seedInputsAreValid() throws {
        for seed in try KeychainSocketFuzzing.seeds() { #expect(try KeychainSocketFuzzing.run(seed) > 0) }
        let depths = try RowFuzzing.seeds().map { try RowFuzzing.run($0) }
        #expect(depths == [2, 2, 2, 2, 2, 0, 2, 2])
        #expect(try Self.inputs("row").filter { try RowFuzzing.run($0.bytes) == 2 }.count >= 10)
    }
}
