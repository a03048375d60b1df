package import VaubanSecretBytes

/// A growing text in zeroing memory; outgrown buffers are overwritten.
package final class SecretBuilder {
    private var buffer = SecretBytes(count: 256) { _ in }
    package private(set) var count = 0

    package init() {}

    package func append(_ bytes: UnsafeRawBufferPointer) {
        reserve(bytes.count)
        let start = count
        buffer.withUnsafeMutableBytes { UnsafeMutableRawBufferPointer(rebasing: $0[start..<start + bytes.count]).copyMemory(from: bytes) }
        count += bytes.count
    }

    package func append(_ byte: UInt8) {
        reserve(1)
        let start = count
        buffer.withUnsafeMutableBytes { $0[start] = byte }
        count += 1
    }

    package func append(_ text: String) {
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    package func append(_ secret: borrowing SecretBytes) { secret.withUnsafeBytes { append($0) } }

    package var kept: SecretBox { SecretBox(buffer.part(0..<count)) }

    private func reserve(_ more: Int) {
        guard count + more > buffer.count else { return }
        let size = max(buffer.count * 2, count + more)
        buffer = buffer.withUnsafeBytes { old in
            SecretBytes(count: size) { UnsafeMutableRawBufferPointer(rebasing: $0[..<old.count]).copyMemory(from: old) }
        }
    }
}
