import Foundation
import TestSupport
import Testing
import VaubanSecretBytes

/// The one type for secrets: its content, access to it, and the bytes that it takes over.
@Suite struct SecretBytesTests {
    private func bytes(_ secret: borrowing SecretBytes) -> [UInt8] { secret.withUnsafeBytes { Array($0) } }

    @Test("A new secret is zero", arguments: [0, 1, 15, 16, 32, 1 << 20]) func aNewSecretIsAllZero(_ count: Int) {
        let secret = SecretBytes(count: count) { _ in }
        let isEmpty = secret.isEmpty, length = secret.count
        #expect(length == count && isEmpty == (count == 0))
        #expect(bytes(secret) == [UInt8](repeating: 0, count: count))
    }

    @Test("A secret is written in place") func itIsWrittenInPlace() {
        var secret = SecretBytes(count: 4) { $0.copyBytes(from: [1, 2, 3, 4] as [UInt8]) }
        #expect(bytes(secret) == [1, 2, 3, 4])
        secret.withUnsafeMutableBytes { $0[1] = 9 }
        #expect(bytes(secret) == [1, 9, 3, 4])
        #expect(secret.disclosed() == Data([1, 9, 3, 4]))
    }

    @Test("A copy and a part are separate secrets") func copyAndPartAreSeparateSecrets() {
        var secret = SecretBytes(copying: [1, 2, 3, 4, 5])
        let copy = secret.duplicate(), part = secret.part(1..<4), none = secret.part(5..<5)
        secret.withUnsafeMutableBytes { _ = $0.initializeMemory(as: UInt8.self, repeating: 0) }
        #expect(bytes(copy) == [1, 2, 3, 4, 5])
        #expect(bytes(part) == [2, 3, 4])
        #expect(bytes(none) == [])
    }

    @Test("A library's Data is absorbed and overwritten") func resultOfALibraryIsCopiedAndOverwritten() {
        var data = Data(repeating: 7, count: 64)
        // This second reference keeps the bytes readable, so that the overwrite can be observed.
        let kept = data.withUnsafeBytes { UnsafeRawBufferPointer($0).map { $0 } }
        let secret = SecretBytes(absorbing: &data)
        #expect(bytes(secret) == kept && data.isEmpty)
        var nothing = Data()
        let empty = SecretBytes(absorbing: &nothing)
        #expect(bytes(empty) == [])
    }

    @Test("Equality compares all bytes") func equalityIsOverAllBytes() {
        let secret = SecretBytes(copying: [1, 2, 3])
        let others: [(bytes: [UInt8], isEqual: Bool)] = [
            ([1, 2, 3], true), ([0, 2, 3], false), ([1, 2, 4], false), ([1, 2], false), ([], false),
        ]
        for other in others {
            let isEqual = secret.equals(SecretBytes(copying: other.bytes))
            #expect(isEqual == other.isEqual)
        }
    }

    @Test("An error while writing frees the secret") func errorWhileWritingFreesTheSecret() {
        struct TestError: Error {}
        #expect(throws: TestError.self) { _ = try SecretBytes(count: 8) { (_) throws(TestError) in throw TestError() } }
    }
}
