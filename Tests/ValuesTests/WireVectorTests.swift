import Foundation
import TestSupport
import Testing

/// The files of Vectors/wire, which a second implementation can read (Vectors/README.md). With VAUBAN_WRITE_VECTORS in the environment they
/// are written from the samples; after a change of a wire a test fails until they are.
@Suite(.serialized) struct WireVectorTests {
    /// The documents in Specs that describe the formats, by which the files are named.
    private static let formats: [String] = [
        "enclave-wire", "witness", "watcher", "reader", "enclave-keys", "keychain-wire", "authentication-wire", "user-wire",
        "keychain-database", "associated-domains",
    ]

    private static func samples(of format: String) -> [WireSample] {
        switch format {
        case "watcher": WireSample.device
        case "reader": WireSample.reader
        case "enclave-keys": WireSample.keys
        case "keychain-wire": WireSample.keychain
        case "authentication-wire": WireSample.authentication
        case "user-wire": WireSample.user
        case "keychain-database": WireSample.rows
        case "associated-domains": WireSample.sites
        case "witness": WireSample.enclave.filter { $0.testDescription.hasPrefix("Witness") }
        default: enclaveAlone
        }
    }

    private static var enclaveAlone: [WireSample] {
        let others = Set((WireSample.device + WireSample.reader + WireSample.keys).map(\.testDescription))
        return WireSample.enclave.filter { !others.contains($0.testDescription) && !$0.testDescription.hasPrefix("Witness") }
    }

    @Test("The vectors match the samples", arguments: formats) func theVectorsAreWhatTheSamplesMake(_ format: String) throws {
        let file = WireVectors.folder.appendingPathComponent("\(format).json")
        let made = WireVectors(specification: "Specs/\(format).md", samples: Self.samples(of: format))
        if ProcessInfo.processInfo.environment["VAUBAN_WRITE_VECTORS"] != nil {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            try (encoder.encode(made) + Data("\n".utf8)).write(to: file)
        }
        let kept = try JSONDecoder().decode(WireVectors.self, from: Data(contentsOf: file))
        #expect(kept == made, "the wire has changed; write them anew: VAUBAN_WRITE_VECTORS=1 make test ONLY=WireVectorTests")
    }

    @Test("Each vector is accepted or refused as it states", arguments: formats) func wireVectorsAreReadOrRefused(_ format: String) throws {
        let file = WireVectors.folder.appendingPathComponent("\(format).json")
        let vectors = try JSONDecoder().decode(WireVectors.self, from: Data(contentsOf: file)).vectors
        let samples = Dictionary(Self.samples(of: format).map { ($0.testDescription.trimmingCharacters(in: .whitespaces), $0) }) {
            first, _ in first
        }
        var refused = 0
        for vector in vectors {
            let sample = try #require(samples[vector.message], "\(vector.message) is no message of \(format)")
            let bytes = try #require([UInt8](hexadecimal: vector.bytes))
            if let failure = vector.failure {
                refused += 1
                #expect(throws: (any Error).self, "\(vector.message), \(failure.rawValue)") { try sample.again(bytes) }
            } else {
                #expect(try sample.again(bytes) == bytes, "\(vector.message)")
            }
        }
        #expect(refused > 5 && vectors.count > refused)
    }
}
