// A secret has one owner, one place in memory and one end. What cannot be copied cannot be left behind.

package import Foundation
import Glibc

/// Bytes that must not outlive their use: zeroed when the value ends, not copyable, and without any description
/// (a noncopyable value cannot be interpolated into a string, a log line or an error).
///
/// `@unchecked Sendable`: the value has one owner at a time, its buffer is private and never aliased, so handing it to
/// another thread hands over the only way to reach the bytes.
package struct SecretBytes: ~Copyable, @unchecked Sendable {
    private let storage: UnsafeMutableRawBufferPointer
    /// Where the storage came from, and goes back to; nil is the heap. It lives as long as the process.
    private let keeper: Unmanaged<SecretKeeper>?

    /// Makes a secret of `count` bytes, all zero, and lets `body` write them in place.
    package init<Failure: Error>(
        count: Int, writing body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        if let installed = SecretMemory.keeper, let kept = installed._withUnsafeGuaranteedRef({ $0.take(max(count, 1)) }) {
            keeper = installed
            storage = kept
        } else {
            keeper = nil
            storage = UnsafeMutableRawBufferPointer.allocate(byteCount: max(count, 1), alignment: 16)
            storage.initializeMemory(as: UInt8.self, repeating: 0)
        }
        self.count = count
        try body(UnsafeMutableRawBufferPointer(rebasing: storage[0..<count]))
    }

    /// Copies bytes that stay the caller's to erase.
    package init(copying bytes: UnsafeRawBufferPointer) {
        self.init(count: bytes.count) { $0.copyMemory(from: bytes) }
    }

    /// The same for an array, whose bytes are not secret any more or never were.
    package init(copying bytes: [UInt8]) {
        self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    /// Takes over the content of a `Data` that a library returned, and overwrites the `Data` in place. The caller must
    /// hold the only reference, or the overwrite would hit a copy: so it is `inout`, and used on fresh results only.
    package init(absorbing data: inout Data) {
        self.init(count: data.count) { target in
            data.withUnsafeBytes { target.copyMemory(from: $0) }
        }
        data.withUnsafeMutableBytes { bytes in
            if let base = bytes.baseAddress { explicit_bzero(base, bytes.count) }
        }
        data = Data()
    }

    /// The number of bytes.
    package let count: Int

    package var isEmpty: Bool { count == 0 }

    deinit {
        if let keeper {
            keeper._withUnsafeGuaranteedRef { $0.giveBack(storage) }
        } else {
            if let base = storage.baseAddress { explicit_bzero(base, storage.count) }
            storage.deallocate()
        }
    }

    /// Lends the bytes for the length of `body`.
    package borrowing func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(rebasing: storage[0..<count]))
    }

    /// Lends the bytes for writing, for the length of `body`.
    package mutating func withUnsafeMutableBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeMutableRawBufferPointer(rebasing: storage[0..<count]))
    }

    /// A second secret with the same bytes, for the few places that lend one on: said, never implied.
    package borrowing func duplicate() -> SecretBytes {
        withUnsafeBytes { SecretBytes(copying: $0) }
    }

    /// A part of the secret as a secret of its own; the range must lie within it.
    package borrowing func part(_ range: Range<Int>) -> SecretBytes {
        withUnsafeBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    /// Compares without an early end, so that time tells nothing of where two secrets differ.
    package borrowing func equals(_ other: borrowing SecretBytes) -> Bool {
        guard count == other.count else { return false }
        return withUnsafeBytes { mine in
            other.withUnsafeBytes { theirs in
                var difference: UInt8 = 0
                for index in 0..<mine.count { difference |= mine[index] ^ theirs[index] }
                return difference == 0
            }
        }
    }

    /// Hands the bytes to an API that wants `Data`; from then on the copy is that API's and its caller's to end.
    package borrowing func disclosed() -> Data {
        withUnsafeBytes { Data($0) }
    }
}
