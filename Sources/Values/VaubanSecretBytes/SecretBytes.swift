// A secret has one owner and one place in memory, and ends with its owner. It cannot be copied, so no copy can be left behind.

package import FoundationEssentials
import Glibc

/// Bytes that must not outlive their use: zeroed when the value ends, not copyable, and without any description
/// (a noncopyable value cannot be interpolated into a string, a log line or an error).
///
/// `@unchecked Sendable`: the value has one owner at a time, its buffer is private and never aliased, so passing it to another thread
/// passes the only way to reach the bytes.
package struct SecretBytes: ~Copyable, @unchecked Sendable {
    private let storage: UnsafeMutableRawBufferPointer
    /// The allocator of the storage, which lives as long as the process; nil for the heap.
    private let allocator: Unmanaged<SecretAllocator>?

    /// Creates a secret of `count` zero bytes, which `body` writes in place.
    package init<Failure: Error>(
        count: Int, writing body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        if let installed = SecretMemory.allocator, let kept = installed._withUnsafeGuaranteedRef({ $0.allocate(max(count, 1)) }) {
            allocator = installed
            storage = kept
        } else {
            allocator = nil
            storage = UnsafeMutableRawBufferPointer.allocate(byteCount: max(count, 1), alignment: 16)
            storage.initializeMemory(as: UInt8.self, repeating: 0)
        }
        self.count = count
        try body(UnsafeMutableRawBufferPointer(rebasing: storage[0..<count]))
    }

    /// Copies bytes; the caller must erase its own.
    package init(copying bytes: UnsafeRawBufferPointer) {
        self.init(count: bytes.count) { $0.copyMemory(from: bytes) }
    }

    /// Copies an array whose bytes are not secret, or no longer secret.
    package init(copying bytes: [UInt8]) {
        self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    /// Takes over the content of a `Data` that a library returned, and overwrites the `Data` in place. The caller must hold the only
    /// reference, or a copy would be overwritten instead; so it is `inout`, and used on new results only.
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
        if let allocator {
            allocator._withUnsafeGuaranteedRef { $0.deallocate(storage) }
        } else {
            if let base = storage.baseAddress { explicit_bzero(base, storage.count) }
            storage.deallocate()
        }
    }

    /// Calls `body` with the bytes.
    package borrowing func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(rebasing: storage[0..<count]))
    }

    /// Calls `body` with the bytes, for writing.
    package mutating func withUnsafeMutableBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeMutableRawBufferPointer(rebasing: storage[0..<count]))
    }

    /// Returns a second secret with the same bytes. Explicit, for the few places that pass a secret on.
    package borrowing func duplicate() -> SecretBytes {
        withUnsafeBytes { SecretBytes(copying: $0) }
    }

    /// Returns a part of the secret as a new secret. The range must be within it.
    package borrowing func part(_ range: Range<Int>) -> SecretBytes {
        withUnsafeBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    /// Compares in constant time, so that timing does not reveal where two secrets differ.
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

    /// Returns the bytes for an API that takes `Data`. That API and its caller must erase the copy.
    package borrowing func disclosed() -> Data {
        withUnsafeBytes { Data($0) }
    }
}
