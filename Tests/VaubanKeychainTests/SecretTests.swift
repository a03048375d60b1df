import Foundation
import Glibc
import TestSupport
import Testing
import VaubanKeychain

@Suite struct SecretTests {
    @Test("A secret returns its bytes and its text") func secretReturnsItsBytes() {
        let secret = Secret(utf8: "pässwörd")
        let count = secret.count
        #expect(count == 10)
        let (text, bytes) = (secret.text(), secret.withUnsafeBytes { Array($0) })
        #expect(text == "pässwörd")
        #expect(bytes == Array("pässwörd".utf8))
        let copied = Secret(copying: Data("pässwörd".utf8))
        let isEqual = copied.equals(secret)
        #expect(isEqual)
    }

    @Test("Invalid UTF-8 is not text") func invalidUTF8IsNotText() {
        let secret = Secret(copying: Data([0xFF, 0xFE, 0x00]))
        let text = secret.text()
        #expect(text == nil)
        let count = secret.count
        #expect(count == 3)
    }

    @Test("A secret may be empty") func emptySecretIsAllowed() {
        let secret = Secret(utf8: "")
        let other = Secret(copying: Data())
        let (isEmpty, text, isEqual) = (secret.isEmpty, secret.text(), secret.equals(other))
        #expect(isEmpty)
        #expect(text == "")
        #expect(isEqual)
    }

    @Test("Secrets are compared by their bytes") func comparesByBytes() {
        let one = Secret(utf8: "one")
        let two = Secret(utf8: "two")
        let longer = Secret(utf8: "one more")
        let again = one.duplicate()
        let equal = [one.equals(again), one.equals(two), one.equals(longer)]
        #expect(equal == [true, false, false])
    }

    @Test("An error while a secret is written is thrown to the caller") func errorsWhileWritingAreRethrown() {
        struct Failure: Error {}
        #expect(throws: Failure.self) { _ = try Secret(count: 4) { _ throws(Failure) in throw Failure() } }
    }

    @Test("Random secrets differ") func randomSecretsDiffer() throws {
        let one = try Secret(randomBytes: 32)
        let two = try Secret(randomBytes: 32)
        let (count, isEqual) = (one.count, one.equals(two))
        #expect(count == 32)
        #expect(!isEqual)
    }

    @Test("A secret is overwritten at its end") func secretIsOverwrittenAtItsEnd() throws {
        let sign = Sign()
        var place: UInt?
        do {
            let secret = sign.secret()
            place = secret.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
            #expect(sign.isAt(try #require(place)))
        }
        #expect(!sign.isAt(try #require(place)))
    }

    @Test("The data of a secret is overwritten with its last reference") func dataOfASecretIsOverwrittenWithItsLastReference() throws {
        let sign = Sign()
        let secret = sign.secret()
        var place: UInt?
        do {
            var data: Data? = secret.disclosed()
            var holder = data
            place = data?.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
            data = nil
            #expect(sign.isAt(try #require(place)))
            #expect(holder?.count == sign.count)
            holder = nil
        }
        #expect(!sign.isAt(try #require(place)))
    }

    @Test("The result of a call is overwritten when a secret absorbs it") func resultOfACallIsOverwritten() {
        let returned = NSData(data: Data([1, 2, 3]))
        let secret = Secret(absorbing: returned)
        let expected = Secret(copying: Data([1, 2, 3]))
        let (isEqual, isEmpty) = (secret.equals(expected), Secret(absorbing: NSData()).isEmpty)
        #expect(isEqual)
        #expect(returned == NSData(data: Data(count: 3)))
        #expect(isEmpty)
    }
}

/// Random bytes whose former place in memory is read. The kernel reads it, so that freed memory does not fault.
private struct Sign {
    private let bytes = (0..<2048).map { _ in UInt8.random(in: 0...255) }

    var count: Int { bytes.count }

    func secret() -> Secret { Secret(copying: Data(bytes)) }

    /// Returns whether the bytes are there, except at the ends, which an allocator may overwrite.
    func isAt(_ address: UInt) -> Bool {
        let memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
        defer { close(memory) }
        var found = [UInt8](repeating: 0, count: bytes.count)
        guard pread(memory, &found, found.count, Int(address)) == found.count else { return false }
        return zip(found, bytes).dropFirst(64).dropLast(64).filter { $0 == $1 }.count > bytes.count / 2
    }
}
