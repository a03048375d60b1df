import Foundation
import Glibc
import Testing
import VaubanLinuxHost
import Witness

/// What the witness caches from one request to the next.
@Suite struct WitnessMemoryTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// Returns the digest, and whether the file was read for it.
    private func digest(_ path: String, _ cache: DigestCache, isUnwritten: Bool = true) throws -> (digest: [UInt8]?, wasRead: Bool) {
        let file = Descriptor(try SystemError.check(open(path, O_RDONLY | O_CLOEXEC), "open \(path)"))
        let key = try #require(FileKey(file))
        let digest = cache.digest(of: file, key, isUnwritten: { isUnwritten })
        return (digest, lseek(file.number, 0, SEEK_CUR) > 0)
    }

    /// Returns how long ago a file changed, in whole seconds as the witness counts them.
    private func secondsSinceChange(of path: String) throws -> Int {
        var (facts, now) = (stat(), timespec())
        try SystemError.check(stat(path, &facts), "look at \(path)")
        clock_gettime(CLOCK_REALTIME, &now)
        return now.tv_sec - facts.st_ctim.tv_sec
    }

    @Test("An unchanged file is read once") func unchangedFileIsReadOnce() throws {
        let cache = DigestCache()
        let first = try digest("/usr/bin/tail", cache)
        let second = try digest("/usr/bin/tail", cache)
        #expect(first.wasRead && first.digest?.count == 32)
        #expect(second.digest == first.digest && !second.wasRead)
        #expect(try digest("/usr/bin/tail", DigestCache()).wasRead)
    }

    /// Within one tick of a file system's clock, a file can change without a new change time.
    @Test("A file that changed recently is read again") func recentlyChangedFileIsReadAgain() throws {
        let cache = DigestCache()
        let path = "\(folder.path)/file"
        // An old modification time, which every user can set, does not prove that the file is unchanged.
        var times = [timeval(tv_sec: 1_000_000, tv_usec: 0), timeval(tv_sec: 1_000_000, tv_usec: 0)]
        var found: [(digest: [UInt8]?, wasRead: Bool)] = []
        // On a halted machine the change may be old by the second look; then the file is written again.
        for _ in 0..<100 {
            try Data("abc".utf8).write(to: URL(fileURLWithPath: path))
            #expect(utimes(path, &times) == 0)
            found = [try digest(path, cache), try digest(path, cache)]
            if try secondsSinceChange(of: path) <= 2 { break }
        }
        #expect(found.allSatisfy { $0.wasRead && $0.digest?.first == 0xBA })
        try Data("abd".utf8).write(to: URL(fileURLWithPath: path))
        #expect(utimes(path, &times) == 0)
        #expect(try digest(path, cache).digest?.first == 0xA5)
    }

    /// A process that has mapped a file for writing changes it without a new time.
    @Test("A file that may be mapped for writing is read again") func possiblyWrittenFileIsReadAgain() throws {
        let cache = DigestCache()
        for _ in 0..<2 { #expect(try digest("/usr/bin/tail", cache, isUnwritten: false).wasRead) }
    }

    @Test("The least recently used digests are removed first") func oldestFilesAreEvicted() throws {
        let cache = DigestCache()
        let names = try FileManager.default.contentsOfDirectory(atPath: "/usr/bin").sorted().map { "/usr/bin/\($0)" }
        var seen: Set<UInt64> = []
        let files = names.filter { path in
            var facts = stat()
            return stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFREG && (1..<100_000).contains(facts.st_size)
                && access(path, R_OK) == 0
                && seen.insert(UInt64(facts.st_ino)).inserted
        }
        guard files.count > 300 else { try Test.cancel("there are too few programs here") }
        _ = try digest(files[0], cache)
        for path in files[1...300] {
            _ = try digest(path, cache)
            _ = try digest(files[0], cache)
        }
        #expect(try !digest(files[0], cache).wasRead && !digest(files[300], cache).wasRead)
        #expect(try digest(files[1], cache).wasRead)
    }

    @Test("A file that is too large has no digest") func tooLargeFileHasNoDigest() throws {
        let path = "\(folder.path)/large"
        #expect(FileManager.default.createFile(atPath: path, contents: nil) && truncate(path, (512 << 20) + 1) == 0)
        #expect(try digest(path, DigestCache()).digest == nil)
    }

    @Test("The package of a file is found by its file list") func packageIsFoundByItsFileList() throws {
        func write(_ name: String, _ lines: [String]) throws {
            try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: "\(folder.path)/\(name)"))
        }
        try write("first.list", ["/.", "/bin", "/bin/moved", "/usr/bin/one"])
        try write("second:amd64.list", ["/usr/bin/one-more", "/usr/bin/two"])
        try write("third.md5sums", ["/usr/bin/three"])
        try Data("/usr/bin/last".utf8).write(to: URL(fileURLWithPath: "\(folder.path)/fourth.list"))
        // Within one tick of a file system's clock, a folder can change without a new time.
        var times = [timeval(tv_sec: 1_000_000, tv_usec: 0), timeval(tv_sec: 1_000_000, tv_usec: 0)]
        #expect(utimes(folder.path, &times) == 0)
        let packages = DebianPackages(folder: folder.path)
        let expected = [
            "/usr/bin/one": "first", "/usr/bin/two": "second", "/usr/bin/one-more": "second", "/usr/bin/moved": "first",
            "/usr/bin/last": "fourth",
        ]
        for _ in 0..<2 {
            for (path, name) in expected { #expect(packages.package(of: path) == name, "\(path)") }
            for path in ["/usr/bin/three", "/usr/bin/on", "/usr/bi", "/bin/one", "bin/moved", ""] {
                #expect(packages.package(of: path) == nil, "\(path)")
            }
        }
        // Installing a package changes the folder.
        try write("fifth.list", ["/usr/bin/three"])
        #expect(packages.package(of: "/usr/bin/three") == "fifth")
        #expect(DebianPackages(folder: "\(folder.path)/absent").package(of: "/usr/bin/one") == nil)
    }
}
