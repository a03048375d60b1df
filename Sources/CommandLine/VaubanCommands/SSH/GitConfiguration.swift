import Glibc
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes

/// Git's configuration, read and written by git itself.
struct GitConfiguration {
    enum Scope: String {
        /// The repository of the working directory.
        case local = "--local"
        case global = "--global"
    }

    let scope: Scope
    private static let bytesMax = 1 << 20

    init(_ scope: Scope) throws {
        self.scope = scope
        if scope == .local, try Self.output(["rev-parse", "--git-dir"]) == nil {
            throw Refusal(.badParameter, "This folder is not in a git repository; change to one, or use --global")
        }
    }

    /// Returns the value in this scope, or nil if it has none.
    func value(_ key: String) throws -> String? {
        guard let text = try Self.output(["config", scope.rawValue, "--get-all", key]) else { return nil }
        let values = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard values.count == 1 else { throw Refusal(.badParameter, "\(key) has several values in git's settings; keep one of them") }
        return text
    }

    /// Returns the value that applies here, from any scope.
    static func effective(_ words: [String]) throws -> String? { try output(["config"] + words) }

    func set(_ key: String, _ value: String) throws { try change(["--replace-all", key, value], key) }

    func unset(_ key: String) throws { try change(["--unset-all", key], key) }

    func removeSection(_ section: String) throws { try change(["--remove-section", section], section) }

    private func change(_ words: [String], _ key: String) throws {
        guard try Self.output(["config", scope.rawValue] + words) != nil else {
            throw Refusal(.unavailable, "git could not change \(key)")
        }
    }

    /// Returns what a program prints, without the newline at its end, or nil if it fails.
    static func output(of program: String = "git", _ words: [String]) throws -> String? {
        var pipe = try Pipe()
        let child: pid_t
        do throws(SystemError) {
            child = try ChildCommand.spawn(program, [program] + words, output: pipe.writing?.number)
        } catch {
            guard error.code == ENOENT else { throw error }
            throw Refusal(.unavailable, "\(program) is not installed")
        }
        pipe.endWriting()
        let text = try SecretReader.everything(from: pipe.reading.number, max: bytesMax, keepsNewline: false)
        let status = ChildCommand.waitForEnd(of: child)
        return status == 0 ? text.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } : nil
    }

    private static func output(_ words: [String]) throws -> String? { try output(of: "git", words) }
}
