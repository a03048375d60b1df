import Crypto
import EnclaveWire
import Foundation
import Glibc
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanCodeSigning
import VaubanDER
import VaubanLinuxHost
import VaubanUserModel
import Witness

/// Whose signature the witness reports of real programs that are signed (Specs/code-signing.md).
@Suite struct SignedCallerTests {
    private let witness = CallerWitness()
    private let folder: TestFolder
    private let key = P256.Signing.PrivateKey()

    init() throws { folder = try TestFolder() }

    private var team: TeamIdentifier { SignedCode.team(of: Array(key.publicKey.derRepresentation)) }

    private func identity(_ process: Waiter) throws -> CallerIdentity {
        try witness.identity(ofProcess: Int64(process.pid), heldBy: ProcessMonitor(process.pid).process)
    }

    /// Returns the identity of a `cat`, under any name, that has started far enough to answer.
    private func identity(_ program: String, environment: [String: String]? = nil) throws -> CallerIdentity {
        let process = try Waiter(program, environment: environment)
        #expect(try process.answers())
        return try identity(process)
    }

    private func content(_ file: String = "/bin/cat") throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: file))) }

    /// Returns an area for a content.
    private func area(
        of content: [UInt8], as identifier: String = "com.acme.cat", expires: Int64? = nil, entitlements: [UInt8]? = nil
    ) throws -> [UInt8] {
        let description = try CodeDescription(
            identifier: identifier, size: Int64(content.count), digest: Array(SHA256.hash(data: content)), signed: 0, expires: expires,
            entitlements: entitlements
        ).encoded()
        let signature = try key.signature(for: SignedCode.message(for: description))
        return try SignatureArea.encode(
            SignedCode(
                key: Array(key.publicKey.derRepresentation), description: description, signature: Array(signature.derRepresentation)))
    }

    private func program(_ bytes: [UInt8], as name: String) throws -> String {
        let path = "\(folder.path)/\(name)"
        try ProgramFile.write(bytes, to: path)
        return path
    }

    private func signed(_ content: [UInt8], as name: String) throws -> String { try program(content + area(of: content), as: name) }

    // MARK: Reported

    @Test("A signed program has a signer, and is also a build") func signedProgramHasASigner() throws {
        let content = try content()
        let list = Array("<plist version=\"1.0\"><dict/></plist>".utf8)
        let path = try program(content + area(of: content, entitlements: list), as: "cat")
        let found = try identity(path)
        #expect(found.standing == .own)
        #expect(found.signer == CodeSigner(team: team, identifier: "com.acme.cat", entitlements: list))
        #expect(found.application == .build(digest: Array(SHA256.hash(data: try self.content(path)))))
        #expect(try CallerIdentity(derBytes: found.encoded()) == found)
    }

    @Test("Another build has the same signer, at any path") func anotherBuildHasTheSameSigner() throws {
        let (one, two) = (try content(), try content() + [1])
        let first = try identity(signed(one, as: "one"))
        let second = try identity(signed(two, as: "two"))
        #expect(first.signer != nil && first.signer == second.signer && first.application != second.application)
    }

    @Test("A signature counts until it expires") func signatureCountsUntilItExpires() throws {
        let content = try content(), now = Int64(time(nil))
        let expired = try identity(program(content + area(of: content, expires: now), as: "expired"))
        #expect(expired.standing == .own && expired.application != nil && expired.signer == nil)
        #expect(try identity(program(content + area(of: content, expires: now + 3600), as: "valid")).signer != nil)
    }

    @Test("A signed program with a library of root keeps its signer") func libraryOfRootKeepsTheSigner() throws {
        let roots = try RootsFolder()
        let library = try roots.copy(try loadedLibrary(), as: "preloaded.so")
        #expect(try identity(signed(content(), as: "cat"), environment: ["LD_PRELOAD": library]).signer != nil)
    }

    // MARK: Not reported

    @Test("A program with a damaged signature has no signer") func damagedSignatureGivesNoSigner() throws {
        let content = try content(), other = try content + self.content("/bin/true"), area = try area(of: content)
        var changed = content
        changed[changed.count - 1] ^= 1
        for (name, file) in [
            ("changed", changed + area), ("longer", content + [0] + area), ("doubled", content + area + area),
            ("cut", content + area.dropLast()), ("without beginning", content + area.dropFirst()), ("of another file", other + area),
            ("unsigned", content),
        ] {
            let found = try identity(program(file, as: name))
            #expect(found.standing == .own && found.application != nil && found.signer == nil, "\(name)")
        }
    }

    @Test("A signed program that was changed in place has no signer, though it had one") func changedProgramHasNoSigner() throws {
        let path = try signed(content(), as: "cat")
        #expect(try identity(path).signer != nil)
        let last = try #require(try content().last)
        try ProgramFile.change(path, at: content().count - 1, to: [last ^ 1])
        #expect(try identity(path).signer == nil)
    }

    @Test("A signed program with a library of the user has no signer") func usersLibraryRemovesTheSigner() throws {
        let library = "\(folder.path)/preloaded.so"
        try ProgramFile.copy(loadedLibrary(), to: library)
        let path = try signed(content(), as: "cat")
        let process = try Waiter(path, environment: ["LD_PRELOAD": library])
        #expect(try process.answers())
        let found = try identity(process)
        #expect(found.standing == .own && found.application != nil && found.signer == nil)
        // A file that was deleted meanwhile stays executed.
        #expect(unlink(library) == 0)
        #expect(try identity(process).signer == nil)
        #expect(try identity(path).signer != nil)
    }

    @Test("A signed program that may overwrite its code has no signer") func writableCodeRemovesTheSigner() throws {
        let path = try signed(WritableCode.added(to: content()), as: "cat")
        let found = try identity(path)
        #expect(found.standing == .own && found.application != nil && found.signer == nil)
    }

    @Test("A signed interpreter is unknown and has no signer") func signedInterpreterHasNoSigner() throws {
        let path = try signed(content("/bin/bash"), as: "harmless")
        let process = try Waiter(path, ["-c", "echo there; read line"])
        #expect(try process.line() == "there")
        let found = try identity(process)
        #expect(found.standing == .unknown(.interpreter) && found.signer == nil)
    }

    @Test("A signed program that root installed keeps its name") func installedProgramKeepsItsName() throws {
        let roots = try RootsFolder()
        let path = "\(roots.path)/cat"
        try ProgramFile.copy(signed(content(), as: "cat"), to: path)
        let found = try identity(path)
        #expect(found.standing == .installed && found.application == .installed(path: path) && found.signer == nil)
    }

    @Test("A signed program whose file was replaced has no identity") func replacedProgramHasNoIdentity() throws {
        let path = try signed(content(), as: "cat")
        let process = try Waiter(path)
        #expect(try process.answers() && identity(process).signer != nil)
        #expect(rename(try signed(content() + [1], as: "new"), path) == 0)
        let found = try identity(process)
        #expect(found.standing == .unknown(.unseen) && found.signer == nil)
    }

    @Test("A signed program in a user namespace of its own has no identity") func ownUserNamespaceHasNoSigner() throws {
        let path = try signed(content(), as: "cat")
        let process = try Waiter("/usr/bin/unshare", ["--user", "--map-root-user", path])
        guard try process.answers() else { try Test.cancel("there are no user namespaces here") }
        let found = try identity(process)
        #expect(found.standing == .unknown(.foreignCode) && found.signer == nil)
    }

    // MARK: Material

    /// Returns a library that `cat` loads in any case, so that preloading a copy of it does no harm.
    private func loadedLibrary() throws -> String {
        let process = try Waiter("/bin/cat")
        #expect(try process.answers())
        let maps = try #require(SmallFile.bytes(path: "/proc/\(process.pid)/maps", max: 1 << 20))
        let libraries = MemoryMap.executedCode(in: maps)?.files.compactMap(\.path).filter { $0.contains("/libc.") || $0.contains("/libc-") }
        guard let library = libraries?.first else { try Test.cancel("this cat loads no library") }
        return library
    }
}
