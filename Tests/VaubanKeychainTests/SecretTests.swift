import Foundation
import TestSupport
import Testing
import VaubanKeychain

@Suite struct SecretTests {
    @Test func bytesGoInAndComeOut() {
        let secret = Secret(utf8: "pässwörd")
        #expect(secret.count == 10)
        #expect(secret.text() == "pässwörd")
        #expect(secret.withUnsafeBytes { Array($0) } == Array("pässwörd".utf8))
        let copied = Secret(copying: Data("pässwörd".utf8))
        #expect(copied.equals(secret))
    }

    @Test func bytesThatAreNotTextAreNoText() {
        let secret = Secret(copying: Data([0xFF, 0xFE, 0x00]))
        #expect(secret.text() == nil)
        #expect(secret.count == 3)
    }

    @Test func anEmptySecretIsOne() {
        let secret = Secret(utf8: "")
        #expect(secret.isEmpty)
        #expect(secret.text() == "")
        let other = Secret(copying: Data())
        #expect(secret.equals(other))
    }

    @Test func comparesByBytes() {
        let one = Secret(utf8: "one")
        let two = Secret(utf8: "two")
        let longer = Secret(utf8: "one more")
        let again = one.duplicate()
        #expect(one.equals(again))
        #expect(!one.equals(two))
        #expect(!one.equals(longer))
    }

    @Test func aFailureWhileWritingIsPassedOn() {
        struct Failure: Error {}
        #expect(throws: Failure.self) { _ = try Secret(count: 4) { _ throws(Failure) in throw Failure() } }
    }

    @Test func randomSecretsDiffer() throws {
        let one = try Secret(randomBytes: 32)
        let two = try Secret(randomBytes: 32)
        #expect(one.count == 32)
        #expect(!one.equals(two))
    }

    /// Where the bytes lay is looked at while the memory is still there: the end of a secret overwrites before it frees, and
    /// an allocator's own notes take up no more than the first 16 bytes.
    @Test func theEndOverwrites() throws {
        let count = 4096
        var address: UnsafePointer<UInt8>?
        do {
            let secret = Secret(count: count) { $0.initializeMemory(as: UInt8.self, repeating: 0xA7) }
            secret.withUnsafeBytes { address = $0.baseAddress?.assumingMemoryBound(to: UInt8.self) }
        }
        let freed = try #require(address)
        let left = (64..<count - 64).filter { freed[$0] == 0xA7 }.count
        #expect(left == 0)
    }
}
