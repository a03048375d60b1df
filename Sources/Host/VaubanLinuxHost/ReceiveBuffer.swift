internal import CVaubanLinux
internal import VaubanSecretBytes

/// The received bytes that are not messages yet. The buffer is secret memory, since secret sections pass through it, and the bytes of a
/// message are overwritten once it is taken.
struct ReceiveBuffer: ~Copyable {
    private var bytes = SecretBytes(count: 8 + ConnectionLimits.headerBytesMax + 4096) { _ in }
    private var end = 0
    /// Descriptors with the position of the last byte that came with them. The kernel ends a receive at the bytes that carry descriptors,
    /// so they belong to the message in which that receive ended.
    private var descriptors: [(last: Int, descriptor: Descriptor)] = []

    var isEmpty: Bool { end == 0 }

    /// Returns the space for the next bytes.
    mutating func space() -> UnsafeMutableRawBufferPointer {
        bytes.withUnsafeMutableBytes { UnsafeMutableRawBufferPointer(rebasing: $0[end...]) }
    }

    mutating func received(_ count: Int, _ more: [Descriptor]) throws(ChannelError) {
        end += count
        // A message that never ends must not exhaust this process's descriptors.
        guard descriptors.count + more.count <= 2 * Int(VAUBAN_DESCRIPTORS_MAX) else { throw .malformed("too many descriptors") }
        for descriptor in more { descriptors.append((end - 1, descriptor)) }
    }

    /// Returns the next message if its header has arrived. `continuing` reads the rest of a large secret section directly into its place
    /// and returns the number of bytes written.
    mutating func nextMessage(
        continuing: (UnsafeMutableRawBufferPointer) throws(ChannelError) -> Int
    ) throws(ChannelError) -> Message? {
        guard end >= 8 else { return nil }
        let (headerCount, secretCount) = bytes.withUnsafeBytes {
            (
                Int($0.loadUnaligned(fromByteOffset: 0, as: UInt32.self).bigEndian),
                Int($0.loadUnaligned(fromByteOffset: 4, as: UInt32.self).bigEndian)
            )
        }
        guard headerCount <= ConnectionLimits.headerBytesMax, secretCount <= ConnectionLimits.secretBytesMax else { throw .oversized }
        guard headerCount > 0 else { throw .malformed("a message has no header") }
        let secretStart = 8 + headerCount
        guard end >= secretStart else { return nil }
        let total = secretStart + secretCount
        let fitsHere = total <= bytes.count
        guard !fitsHere || end >= total else { return nil }
        let header = bytes.withUnsafeBytes { Array($0[8..<secretStart]) }
        var secret: SecretBytes?
        if secretCount > 0 {
            let here = min(end, total) - secretStart
            var taken = SecretBytes(count: secretCount) { target in
                bytes.withUnsafeBytes { target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[secretStart..<secretStart + here])) }
            }
            var filled = here
            while filled < secretCount {
                filled += try taken.withUnsafeMutableBytes { (target) throws(ChannelError) -> Int in
                    try continuing(UnsafeMutableRawBufferPointer(rebasing: target[filled...]))
                }
            }
            secret = consume taken
        }
        let carried = descriptors.filter { $0.last < total }.map(\.descriptor)
        drop(min(total, end))
        guard carried.count <= Int(VAUBAN_DESCRIPTORS_MAX) else { throw .malformed("a message carries too many descriptors") }
        return Message(header: header, secret: secret, descriptors: carried)
    }

    /// Moves the following bytes to the front and overwrites the rest.
    private mutating func drop(_ count: Int) {
        let kept = end - count
        bytes.withUnsafeMutableBytes { all in
            if kept > 0 { all.copyMemory(from: UnsafeRawBufferPointer(rebasing: all[count..<end])) }
            UnsafeMutableRawBufferPointer(rebasing: all[kept..<end]).initializeMemory(as: UInt8.self, repeating: 0)
        }
        end = kept
        descriptors = descriptors.filter { $0.last >= count }.map { ($0.last - count, $0.descriptor) }
    }
}

extension vauban_ancillary {
    /// The received descriptors, with their ownership.
    var taken: [Descriptor] {
        withUnsafeBytes(of: descriptors) { raw in
            raw.bindMemory(to: Int32.self).prefix(Int(descriptor_count)).map { Descriptor($0) }
        }
    }
}
