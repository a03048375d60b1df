// A secret has one owner, one place in memory and one end.

public import Foundation
internal import Security

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Bytes that must not outlive their use, such as a password or a token.
///
/// A secret is overwritten when its value ends. It cannot be copied, only lent (`borrowing`) or handed over, and it has no
/// description: it cannot be interpolated into a string, a log line or an error.
///
/// ```swift
/// let token = Secret(utf8: "gho_…")
/// token.withUnsafeBytes { bytes in connection.send(bytes) }
/// ```
///
/// Keep one no longer than it is needed, and read it again when it is needed again.
///
/// On its way to the keychain and back a secret passes through the system's `SecItem…`, in `Data`. What this module makes for
/// that is overwritten; copies that the system's own libraries make for the length of a call are only freed.
///
/// `@unchecked Sendable`: the value has one owner at a time, its memory is private and never changes after `init`, so
/// handing it to another thread hands over the only way to reach it.
public struct Secret: ~Copyable, @unchecked Sendable {
    private let storage: UnsafeMutableRawBufferPointer

    /// The number of bytes.
    public let count: Int

    /// Makes a secret of `count` bytes, all zero, and lets `body` write them in place.
    ///
    /// - Parameters:
    ///   - count: The number of bytes; at least 0.
    ///   - body: Writes the bytes. They are overwritten when it throws.
    public init<Failure: Error>(
        count: Int, writing body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        storage = UnsafeMutableRawBufferPointer.allocate(byteCount: max(count, 1), alignment: 16)
        storage.initializeMemory(as: UInt8.self, repeating: 0)
        self.count = count
        try body(UnsafeMutableRawBufferPointer(rebasing: storage[0..<count]))
    }

    /// Copies bytes, which stay the caller's to overwrite.
    public init(copying bytes: UnsafeRawBufferPointer) {
        self.init(count: bytes.count) { $0.copyMemory(from: bytes) }
    }

    /// Copies data, which stays the caller's.
    public init(copying data: Data) {
        self.init(count: data.count) { target in data.withUnsafeBytes { target.copyMemory(from: $0) } }
    }

    /// The UTF-8 bytes of a text. The text itself cannot be overwritten, so make the secret as early as possible.
    public init(utf8 text: String) {
        let bytes = text.utf8
        self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    /// Fresh random bytes of the system, such as a key for a large file that is kept outside the keychain.
    ///
    /// - Throws: ``KeychainError`` where the system gives none.
    public init(randomBytes count: Int) throws(KeychainError) {
        var status = errSecSuccess
        self.init(count: count) { target in
            if let base = target.baseAddress, count > 0 { status = SecRandomCopyBytes(kSecRandomDefault, count, base) }
        }
        guard status == errSecSuccess else { throw KeychainError(status: errSecNotAvailable, message: "the system gives no random bytes") }
    }

    deinit {
        Self.overwrite(storage)
        storage.deallocate()
    }

    /// Whether there are no bytes.
    public var isEmpty: Bool { count == 0 }

    /// Lends the bytes for the length of `body`. The pointer must not leave it.
    public borrowing func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(rebasing: storage[0..<count]))
    }

    /// The bytes as text; nil where they are not UTF-8. A `String` cannot be overwritten: let it end soon.
    public borrowing func text() -> String? {
        withUnsafeBytes { String(bytes: $0, encoding: .utf8) }
    }

    /// A second secret with the same bytes.
    public borrowing func duplicate() -> Secret {
        withUnsafeBytes { Secret(copying: $0) }
    }

    /// Compares without an early end, so that the time it takes says nothing of where two secrets differ.
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

    /// Writes zeros in a way that the compiler does not leave out.
    static func overwrite(_ bytes: UnsafeMutableRawBufferPointer) {
        guard let base = bytes.baseAddress, bytes.count > 0 else { return }
        #if canImport(Darwin)
        memset_s(base, bytes.count, 0, bytes.count)
        #else
        explicit_bzero(base, bytes.count)
        #endif
    }
}

/// A secret that several hold, such as a call and the one who waits for it; overwritten with the last of them.
final class HeldSecret: Sendable {
    let secret: Secret

    init(_ secret: consuming Secret) { self.secret = secret }
}
