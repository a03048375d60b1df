import CertificateFuzzing
import Foundation
import Security
import Testing

/// Runs the stored inputs of the certificate fuzzer (Fuzz/Corpus) without an engine.
@Suite struct CertificateFuzzTests {
    private static let corpus = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Fuzz/Corpus/certificate")

    @Test("The stored inputs of the certificate fuzzer break no invariant") func storedInputsBreakNoInvariant() throws {
        let files = try FileManager.default.contentsOfDirectory(at: Self.corpus, includingPropertiesForKeys: nil)
        #expect((4...1000).contains(files.count))
        var certificates = 0
        for file in files where try CertificateFuzzing.run([UInt8](try Data(contentsOf: file))) { certificates += 1 }
        // Inputs that are all refused at once would prove nothing.
        #expect(certificates >= 3)
    }

    /// The version is an integer of any size: adding 1 to the greatest Int would trap.
    @Test("A certificate with an invalid version is refused", arguments: [Int64.max, Int64.min, 3, -1])
    func invalidVersionIsRefused(_ version: Int64) {
        let number = withUnsafeBytes(of: version.bigEndian) { Array($0) }
        var first = 0
        while first < 7, [0x00, 0xFF].contains(number[first]), (number[first] ^ number[first + 1]) & 0x80 == 0 { first += 1 }
        let tagged = [0xA0, UInt8(10 - first), 0x02, UInt8(8 - first)] + number[first...]
        let bytes = [0x30, UInt8(tagged.count + 7), 0x30, UInt8(tagged.count)] + tagged + [0x30, 0x00, 0x03, 0x01, 0x00]
        #expect(SecCertificateCreateWithData(nil, NSData(data: Data(bytes))) == nil)
    }
}
