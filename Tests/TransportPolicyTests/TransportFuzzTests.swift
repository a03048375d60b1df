import Foundation
import Testing
import TransportFuzzing

/// Runs the stored inputs of the fuzzers of property lists and of executables (Fuzz/Corpus) without an engine.
@Suite struct TransportFuzzTests {
    private static func corpus(_ name: String) throws -> [[UInt8]] {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Fuzz/Corpus/\(name)")
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil).map {
            [UInt8](try Data(contentsOf: $0))
        }
    }

    @Test("The stored property lists of the fuzzer break no promise") func storedPropertyListsBreakNoPromise() throws {
        let inputs = try Self.corpus("propertylist") + PropertyListFuzzing.seeds()
        #expect((4...1000).contains(inputs.count))
        // Inputs that are all refused at once would prove nothing.
        #expect(try inputs.filter { try PropertyListFuzzing.run($0) }.count >= 4)
    }

    @Test("The stored executables of the fuzzer break no promise") func storedExecutablesBreakNoPromise() throws {
        let inputs = try Self.corpus("executable") + ExecutableFuzzing.seeds()
        #expect((5...1000).contains(inputs.count))
        #expect(try inputs.filter { try ExecutableFuzzing.run($0) }.count >= 4)
    }
}
