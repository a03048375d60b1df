internal import Foundation
internal import Glibc

/// Files that a test makes and executes. Other processes write them: the kernel executes no file that is open for writing (ETXTBSY), and
/// what this process has open, a process that another thread starts has open too until it executes its own program.
public enum ProgramFile {
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    /// Copies a program or a library, with its mode; a symbolic link is followed. An existing file is replaced by a new one.
    public static func copy(_ file: String, to path: String) throws {
        let words = ["/bin/cp", "--remove-destination", "--preserve=mode", "--no-target-directory", "--", file, path]
        let status = try status(of: words)
        guard status == 0 else { throw Failure(description: "\(words.joined(separator: " ")) ended with wait status \(status)") }
    }

    /// Makes a program of these bytes that everyone may execute. An existing file is replaced by a new one.
    public static func write(_ bytes: [UInt8], to path: String) throws {
        let folder = try TemporaryFolder()
        let draft = "\(folder.path)/draft"
        try Data(bytes).write(to: URL(fileURLWithPath: draft))
        guard chmod(draft, 0o755) == 0 else { throw Failure(description: "\(draft): \(String(cString: strerror(errno)))") }
        try copy(draft, to: path)
    }

    /// Writes into a program that has ended, in place. As long as another process reads the ended one's state in /proc, the kernel takes it
    /// for running, so this tries again.
    public static func change(_ path: String, at offset: Int, to bytes: [UInt8]) throws {
        let folder = try TemporaryFolder()
        let part = "\(folder.path)/part"
        try Data(bytes).write(to: URL(fileURLWithPath: part))
        let words = ["/bin/dd", "if=\(part)", "of=\(path)", "bs=1", "seek=\(offset)", "conv=notrunc", "status=none"]
        let deadline = ContinuousClock.now + .seconds(HangLimit.seconds)
        while try status(of: words) != 0 {
            guard ContinuousClock.now < deadline else { throw Failure(description: "\(path) could not be written") }
        }
    }

    /// Runs a program to its end and returns its wait status.
    private static func status(of words: [String]) throws -> Int32 {
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var child: pid_t = 0
        let problem = posix_spawn(&child, words[0], nil, nil, &arguments, environ)
        guard problem == 0 else { throw Failure(description: "\(words[0]): \(String(cString: strerror(problem)))") }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 {
            guard errno == EINTR else { throw Failure(description: "\(words[0]): \(String(cString: strerror(errno)))") }
        }
        return status
    }
}
