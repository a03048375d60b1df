import Enclave
import Glibc
import VaubanLinuxHost

/// The machine's clocks, offset by a file: nanoseconds to add to the boot-time and the monotonic clock, and microseconds to add to the wall
/// clock, as three decimal numbers, the last of which is optional. An empty file adds nothing. It is opened before the room is hardened and
/// read at every use.
struct FileClock: EnclaveClock {
    private let file: Descriptor

    init?(path: String) {
        let number = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard number >= 0 else { return nil }
        file = Descriptor(number)
    }

    var boot: UInt64 { MachineClock.boot &+ offset(0) }
    var monotonic: UInt64 { MachineClock.monotonic &+ offset(1) }
    var referenceMicroseconds: Int64 { MachineClock.referenceMicroseconds &+ Int64(clamping: offset(2)) }

    private func offset(_ index: Int) -> UInt64 {
        var bytes = [UInt8](repeating: 0, count: 96)
        let count = pread(file.number, &bytes, bytes.count, 0)
        let words = String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self).split(whereSeparator: { $0 == " " || $0 == "\n" })
        return words.count >= 2 && words.indices.contains(index) ? UInt64(words[index]) ?? 0 : 0
    }
}
