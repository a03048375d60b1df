import Foundation
import FuzzHarness
import Testing

/// The samples of the enclave's socket are the first inputs of its fuzzer, so it must accept each as a message. If VAUBAN_FUZZ_SEEDS names
/// a folder, they are written there (Fuzz/keep then selects the fewest that reach the same code).
@Suite struct FuzzSampleTests {
    @Test("The fuzzer has every sample", arguments: WireSample.enclave) func fuzzerHasEverySample(_ sample: WireSample) throws {
        #expect(try WireFuzzing.isMessage(sample.bytes))
        try WireFuzzing().run(sample.bytes)
        guard let folder = ProcessInfo.processInfo.environment["VAUBAN_FUZZ_SEEDS"] else { return }
        let name = sample.testDescription.replacingOccurrences(of: " ", with: "-")
        try Data(sample.bytes).write(to: URL(fileURLWithPath: folder).appendingPathComponent(name))
    }
}
