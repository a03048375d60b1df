// Searches for a secret in this very process, which therefore must not contain it: only a masked form is kept.

import Foundation
import Glibc
import VaubanLinuxHost

/// Part of a secret to search for, without holding it.
struct HiddenNeedle: Sendable {
    private let masked: [UInt8]
    private static let mask: UInt8 = 0xA5
    static let secretBytesMin = 64

    /// Takes sixteen bytes from the middle: the allocator, not our code, overwrites the first bytes of freed memory.
    init(within secret: UnsafeRawBufferPointer) {
        precondition(secret.count >= Self.secretBytesMin)
        masked = secret[40..<56].map { $0 ^ Self.mask }
    }

    /// Returns the mappings of this process that contain it, with its address there.
    func placesInOwnMemory() throws -> [String] {
        let memory = Descriptor(try SystemError.check(open("/proc/self/mem", O_RDONLY | O_CLOEXEC), "open this process's memory"))
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: (1 << 20) + masked.count, alignment: 16)
        defer { buffer.deallocate() }
        guard let maps = SmallFile.text(path: "/proc/self/maps", max: 8 << 20) else {
            throw SystemError("read this process's mappings", code: EIO)
        }
        var found: [String] = []
        for line in maps.split(separator: "\n") {
            let words = line.split(separator: " ", omittingEmptySubsequences: true)
            let range = words[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
            guard range.count == 2, words[1].hasPrefix("r"), words.last?.hasPrefix("[v") != true else { continue }
            var address = range[0]
            while address < range[1] {
                let count = pread(memory.number, buffer.baseAddress, min(buffer.count, Int(range[1] - address)), Int(address))
                guard count > 0 else { break }
                if isIn(UnsafeRawBufferPointer(rebasing: buffer[..<count])) {
                    found.append("\(String(address, radix: 16)) \(words.dropFirst(5).joined())")
                }
                address += UInt64(count == buffer.count ? 1 << 20 : count)
            }
        }
        return found
    }

    /// Returns the files under a folder that contain it, and how many were read.
    func files(under folder: String) throws -> (with: [String], read: Int) {
        var with: [String] = []
        var read = 0
        for case let file as URL in FileManager.default.enumerator(
            at: URL(fileURLWithPath: folder), includingPropertiesForKeys: [.isRegularFileKey])
            ?? FileManager.DirectoryEnumerator()
        {
            guard try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true, let data = try? Data(contentsOf: file) else {
                continue
            }
            read += 1
            if data.withUnsafeBytes(isIn) { with.append(file.path) }
        }
        return (with, read)
    }

    private func isIn(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.baseAddress else { return false }
        let first = Int32(masked[0] ^ Self.mask)
        var place = 0
        while place + masked.count <= bytes.count, let hit = memchr(start + place, first, bytes.count - masked.count - place + 1) {
            place = UnsafeRawPointer(hit) - start
            if (1..<masked.count).allSatisfy({ bytes[place + $0] ^ Self.mask == masked[$0] }) { return true }
            place += 1
        }
        return false
    }
}
