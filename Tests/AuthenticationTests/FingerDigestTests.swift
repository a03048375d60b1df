import FingerprintReader
import TestSupport
import Testing

/// Equal lists of fingers have equal digests, and different lists different ones.
@Suite struct FingerDigestTests {
    private let mark = [UInt8](repeating: 0x11, count: 32)
    private let sensor = "Virtual device for debugging"

    @Test("The digest of fingerprints matches the example of Specs/reader.md") func digestMatchesTheExampleOfTheSpecification() throws {
        let digest = FingerDigest.of(["right-index-finger", "left-thumb"], on: sensor, mark: mark)
        #expect(try SpecDocument("reader").example("digest") == digest)
        // Neither the order in which fprintd names the fingers nor a repeated name matters.
        #expect(FingerDigest.of(["left-thumb", "right-index-finger", "left-thumb"], on: sensor, mark: mark) == digest)
    }

    @Test("Every field changes the digest of fingerprints") func everyFieldChangesTheDigest() {
        let digests = [
            FingerDigest.of(["right-index-finger"], on: sensor, mark: mark),
            FingerDigest.of(["left-thumb"], on: sensor, mark: mark),
            FingerDigest.of(["left-thumb", "right-index-finger"], on: sensor, mark: mark),
            FingerDigest.of(["right-index-finger"], on: "another", mark: mark),
            FingerDigest.of(["right-index-finger"], on: sensor, mark: [UInt8](repeating: 0x12, count: 32)),
            FingerDigest.of(["finger"], on: "a", mark: mark), FingerDigest.of(["a"], on: "finger", mark: mark),
        ]
        #expect(Set(digests).count == digests.count && !digests.contains(FingerDigest.none))
    }

    @Test("The digest without fingerprints is zero") func digestWithoutFingerprintsIsZero() {
        #expect(FingerDigest.of([], on: sensor, mark: mark) == FingerDigest.none)
        #expect(FingerDigest.none == [UInt8](repeating: 0, count: 32))
    }
}
