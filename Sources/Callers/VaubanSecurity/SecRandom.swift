internal import Glibc

/// A source of random bytes: Apple's `SecRandomRef`. There is only one, `kSecRandomDefault`.
public typealias SecRandomRef = OpaquePointer

/// The system's random source: Apple's `kSecRandomDefault`, which is a null pointer there too. It is constant and points to nothing, so
/// every thread may read it.
nonisolated(unsafe) public let kSecRandomDefault: SecRandomRef? = nil

/// Fills a buffer with cryptographically secure random bytes from the kernel: Apple's `SecRandomCopyBytes`.
///
/// - Returns: `errSecSuccess`, `errSecParam` for a negative count, or -1 if the kernel provides no bytes; then `errno` has the reason and
///   the buffer must not be used.
public func SecRandomCopyBytes(
    _ rnd: SecRandomRef?,
    _ count: Int,
    _ bytes: UnsafeMutableRawPointer
) -> Int32 {
    guard count >= 0 else { return errSecParam }
    // `getentropy` calls `getrandom` and returns all bytes or none, at most 256 at a time.
    for offset in stride(from: 0, to: count, by: 256) {
        guard getentropy(bytes + offset, min(256, count - offset)) == 0 else { return -1 }
    }
    return errSecSuccess
}
