import BrowserHost
import Glibc
import Testing
import VaubanSecretBytes

/// The frames of native messaging.
@Suite struct NativeMessageTests {
    /// Writes bytes into a pipe and returns the outcome of reading them.
    private func read(_ bytes: [UInt8]) throws -> Result<[UInt8]?, NativeMessageError> {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { close(ends[0]) }
        try #require(write(ends[1], bytes, bytes.count) == bytes.count)
        close(ends[1])
        do throws(NativeMessageError) {
            guard let message = try NativeMessages.next(from: ends[0]) else { return .success(nil) }
            return .success(message.withUnsafeBytes { Array($0) })
        } catch {
            return .failure(error)
        }
    }

    private func header(_ count: UInt32) -> [UInt8] { withUnsafeBytes(of: count) { Array($0) } }

    @Test("A message begins with its length in the byte order of the machine", arguments: [1, 4096, 4097, 30_000])
    func messageBeginsWithItsLength(count: Int) throws {
        let body = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let framed = NativeMessages.framed(SecretBytes(copying: body)).withUnsafeBytes { Array($0) }
        #expect(framed == header(UInt32(count)) + body)
        #expect(try read(framed) == .success(body))
    }

    @Test("A stream may end between messages") func streamEndsBetweenMessages() throws { #expect(try read([]) == .success(nil)) }

    @Test("A length out of bounds is refused before anything is read", arguments: [0, 1_048_577, 0xFFFF_FFFF])
    func lengthIsBounded(count: UInt32) throws {
        #expect(try read(header(count) + [0x7B]) == .failure(.length(count)))
    }

    @Test("An incomplete message is refused", arguments: [1, 2, 3, 4, 5, 13])
    func incompleteMessageIsRefused(count: Int) throws {
        #expect(try read(Array((header(10) + Array(1...10)).prefix(count))) == .failure(.cutOff))
    }
}
