internal import CertificateFuzzing
internal import FuzzHarness
internal import Foundation
internal import KeychainFuzzing
internal import TransportFuzzing

/// The fuzzers, by the names of the folders in Fuzz/Corpus.
enum Fuzzer: String, CaseIterable {
    case wire, state, keychain, row, certificate, code, propertylist, executable

    /// The engine's entry point for one input.
    typealias Entry = @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32

    var entry: Entry {
        switch self {
        case .wire: { Self.run($0, count: $1) { try Self.wireFuzzing.get().run($0) } }
        case .state: { Self.run($0, count: $1) { try Self.stateFuzzing.get().run($0) } }
        case .keychain: { Self.run($0, count: $1) { try KeychainSocketFuzzing.run($0) } }
        case .row: { Self.run($0, count: $1) { try RowFuzzing.run($0) } }
        case .certificate: { Self.run($0, count: $1) { try CertificateFuzzing.run($0) } }
        case .code: { Self.run($0, count: $1) { try CodeFuzzing.run($0) } }
        case .propertylist: { Self.run($0, count: $1) { try PropertyListFuzzing.run($0) } }
        case .executable: { Self.run($0, count: $1) { try ExecutableFuzzing.run($0) } }
        }
    }

    /// Returns the first inputs; none if Fuzz/Corpus has all of them.
    func seeds() throws -> [[UInt8]] {
        switch self {
        case .wire: try WireFuzzing.seeds()
        case .state: try StateFuzzing.seeds()
        case .keychain: try KeychainSocketFuzzing.seeds()
        case .row: try RowFuzzing.seeds()
        case .certificate: []
        case .code: try CodeFuzzing.seeds()
        case .propertylist: try PropertyListFuzzing.seeds()
        case .executable: try ExecutableFuzzing.seeds()
        }
    }

    private static let wireFuzzing = Result { try WireFuzzing() }
    private static let stateFuzzing = Result { try StateFuzzing() }

    /// Runs one input, and ends the process if the input breaks a promise, so that the engine keeps the input.
    private static func run<Answer>(_ start: UnsafePointer<UInt8>?, count: Int, body: ([UInt8]) throws -> Answer) -> Int32 {
        do { _ = try body(Array(UnsafeBufferPointer(start: start, count: count))) } catch { fatalError("\(error)") }
        return 0
    }
}
