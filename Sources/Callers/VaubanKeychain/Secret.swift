// A secret has one owner, one place in memory, and one end.

public import Foundation
internal import Security

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Bytes that must not outlive their use, such as a password or a token.
///
/// A secret is overwritten when its value ends. It cannot be copied, only borrowed or consumed, and it has no description: it cannot be
/// interpolated into a string, a log line or an error.
///
/// ```swift
/// let token = Secret(utf8: "gho_…")
/// token.withUnsafeBytes { bytes in connection.send(bytes) }
/// ```
///
/// Keep a secret only as long as you need it, and read it again later.
///
/// Between your program and the keychain, a secret passes through the system's `SecItem…` as `Data`. This module overwrites its own copies;
/// the copies that the system's libraries make during a call are only freed.
///
/// `@unchecked Sendable`: the value has one owner at a time, its memory is private and never changes after `init`, so sending it to another
/// thread sends the only way to reach it.
public struct Secret: ~Copyable, @unchecked Sendable {
    private let storage: UnsafeMutableRawBufferPointer

    /// The number of bytes.
    public let count: Int

    /// Creates a secret of `count` zero bytes, which `body` then writes in place.
    ///
    /// - Parameters:
    ///   - count: The number of bytes; at least 0.
    ///   - body: Writes the bytes. They are overwritten when it throws.
    /// - Throws: What `body` throws.
    public init<Failure: Error>(
        count: Int, writing body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        storage = UnsafeMutableRawBufferPointer.allocate(byteCount: max(count, 1), alignment: 16)
        storage.initializeMemory(as: UInt8.self, repeating: 0)
        self.count = count
        try body(UnsafeMutableRawBufferPointer(rebasing: storage[0..<count]))
    }

    /// Copies bytes; the caller must overwrite its own.
    public init(copying bytes: UnsafeRawBufferPointer) {
        self.init(count: bytes.count) { $0.copyMemory(from: bytes) }
    }

    /// Copies data; the caller keeps its own.
    public init(copying data: Data) {
        self.init(count: data.count) { target in data.withUnsafeBytes { target.copyMemory(from: $0) } }
    }

    /// Creates a secret from the UTF-8 bytes of a text. The text itself cannot be overwritten, so create the secret as early as possible.
    public init(utf8 text: String) {
        let bytes = text.utf8
        self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    /// Creates a secret of random bytes from the system, such as a key for a large file that is stored outside the keychain.
    ///
    /// - Throws: ``KeychainError`` if the system provides none.
    public init(randomBytes count: Int) throws(KeychainError) {
        var status = errSecSuccess
        self.init(count: count) { target in
            if let base = target.baseAddress, count > 0 { status = SecRandomCopyBytes(kSecRandomDefault, count, base) }
        }
        guard status == errSecSuccess else {
            throw KeychainError(status: errSecNotAvailable, message: "the system provides no random bytes")
        }
    }

    deinit {
        Self.overwrite(storage)
        storage.deallocate()
    }

    /// Whether there are no bytes.
    public var isEmpty: Bool { count == 0 }

    /// Calls `body` with the bytes. The pointer is valid only during the call.
    /// - Throws: What `body` throws.
    public borrowing func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(rebasing: storage[0..<count]))
    }

    /// Returns the bytes as text; nil if they are not UTF-8. A `String` cannot be overwritten: keep it only briefly.
    public borrowing func text() -> String? {
        withUnsafeBytes { String(bytes: $0, encoding: .utf8) }
    }

    /// Returns a second secret with the same bytes.
    public borrowing func duplicate() -> Secret {
        withUnsafeBytes { Secret(copying: $0) }
    }

    /// Returns whether two secrets are equal, in a time that does not depend on where they differ.
    public borrowing func equals(_ other: borrowing Secret) -> Bool {
        guard count == other.count else { return false }
        return withUnsafeBytes { mine in
            other.withUnsafeBytes { theirs in
                var difference: UInt8 = 0
                for index in 0..<mine.count { difference |= mine[index] ^ theirs[index] }
                return difference == 0
            }
        }
    }

    /// Writes zeros in a way that the compiler does not optimize away.
    static func overwrite(_ bytes: UnsafeMutableRawBufferPointer) {
        guard let base = bytes.baseAddress, bytes.count > 0 else { return }
        #if canImport(Darwin)
        memset_s(base, bytes.count, 0, bytes.count)
        #else
        explicit_bzero(base, bytes.count)
        #endif
    }
}

/// A secret shared by several owners, such as a call and the task that waits for it; overwritten with the last of them.
final class HeldSecret: Sendable {
    let secret: Secret

    init(_ secret: consuming Secret) { self.secret = secret }
}
