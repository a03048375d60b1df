import Enclave
import Foundation
import VaubanLinuxHost

/// The machine's clocks, moved by what a file says: nanoseconds to add to the boot-time and to the monotonic clock, two
/// decimal numbers. Without the file nothing is added.
struct FileClock: EnclaveClock {
    let path: String?

    var boot: UInt64 { MachineClock.boot &+ offsets.boot }
    var monotonic: UInt64 { MachineClock.monotonic &+ offsets.monotonic }
    var referenceMicroseconds: Int64 { MachineClock.referenceMicroseconds }

    private var offsets: (boot: UInt64, monotonic: UInt64) {
        guard let path, let words = SmallFile.text(path: path, max: 128)?.split(whereSeparator: { $0 == " " || $0 == "\n" }), words.count == 2,
            let boot = UInt64(words[0]), let monotonic = UInt64(words[1])
        else { return (0, 0) }
        return (boot, monotonic)
    }
}
