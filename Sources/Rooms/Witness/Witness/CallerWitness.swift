// The identity of a process, as far as the kernel tells (Specs/caller-identity.md). Nothing that the process says about itself counts,
// neither its name nor its arguments.

package import EnclaveWire
import Glibc
internal import VaubanCodeSigning
package import VaubanLinuxHost
internal import VaubanPlainText
internal import VaubanUserModel

package final class CallerWitness: Sendable {
    private let commandLine: CommandLineProgram
    private let digests = DigestCache()
    private let interpreters: Interpreters
    private let packages = DebianPackages()

    /// Creates a witness. Programs in `commandLineFolder` have no identity of their own; it defaults to the folder of this process's
    /// program.
    package init(commandLineFolder: String? = nil) {
        commandLine = CommandLineProgram(folder: commandLineFolder)
        interpreters = Interpreters(digests: digests)
    }

    /// Returns the identity of the process that both the number and the descriptor name.
    package func identity(ofProcess pid: Int64, heldBy process: Descriptor) -> CallerIdentity {
        guard let named = ProcessDescriptor.pid(of: process), Int64(named) == pid,
            let caller = ProcessSnapshot(pid: named, process: process, digests: digests)
        else {
            return .unseen
        }
        let identity = identity(of: caller)
        let isTraced = identity.throughCommandLine && caller.isTraced
        // The findings are the caller's only if the process was the caller throughout.
        guard caller.isUnchanged else { return .unseen }
        return isTraced ? Self.unknown(.traced, [Self.link(caller)], above: caller.pid, heldBy: caller.process) : identity
    }

    private func identity(of caller: ProcessSnapshot) -> CallerIdentity {
        var snapshot = caller
        var chain: [String] = []
        while true {
            guard isCommandLine(snapshot) else { return identity(of: snapshot, after: chain) }
            chain.append(Self.link(snapshot))
            let (pid, held) = (snapshot.pid, snapshot.process)
            if let gap = gap(aboutCommandLine: snapshot) { return Self.unknown(gap, chain, above: pid, heldBy: held) }
            guard chain.count <= WitnessLimits.parentsMax, case .process(let parent, let process) = Ancestor(of: snapshot) else {
                return Self.unknown(.orphan, chain, above: pid, heldBy: held)
            }
            guard let next = ProcessSnapshot(pid: parent, process: process, digests: digests) else {
                return Self.unknown(.unseen, chain + [""], above: parent, heldBy: process)
            }
            if let path = next.path, ServiceManagerNames.contain(Self.name(path)) {
                return Self.unknown(.orphan, chain, above: pid, heldBy: held)
            }
            snapshot = next
        }
    }

    /// Returns an identity of which only the chain is known, and the processes above its last one.
    private static func unknown(_ gap: IdentityGap, _ chain: [String], above pid: Int32, heldBy process: Descriptor) -> CallerIdentity {
        CallerIdentity(
            .unknown(gap), throughCommandLine: true, chain: chain, parents: HeldParent.paths(above: pid, heldBy: process))
    }

    /// Returns the identity of the nearest ancestor that is not Vauban's, or of the caller itself.
    private func identity(of snapshot: ProcessSnapshot, after chain: [String]) -> CallerIdentity {
        let executable = executable(of: snapshot)
        var (standing, place) = standing(of: snapshot, executable)
        var signer = chain.isEmpty && standing == .own ? signer(of: snapshot) : nil
        // Reading the files and the map takes a while, and a tracer may have attached since.
        if standing.isKnown, snapshot.isTraced {
            standing = .unknown(.traced)
            place = nil
            signer = nil
        }
        // A parent must be unchanged too, since its own snapshot.
        guard chain.isEmpty || snapshot.isUnchanged else {
            return CallerIdentity(.unknown(.unseen), throughCommandLine: true, chain: chain + [""])
        }
        return CallerIdentity(
            standing, throughCommandLine: !chain.isEmpty, executable: executable, package: place.flatMap(packages.package(of:)),
            unit: ControlGroup.unit(of: snapshot.pid), signer: signer, chain: chain + [Self.link(snapshot)],
            parents: HeldParent.paths(above: snapshot.pid, heldBy: snapshot.process))
    }

    private func executable(of snapshot: ProcessSnapshot) -> ExecutableIdentity? {
        guard let path = snapshot.path, path.utf8.count <= WitnessLimits.namedPathBytesMax,
            let digest = snapshot.digest
        else { return nil }
        return ExecutableIdentity(
            path: path, device: Int64(bitPattern: snapshot.key.device), inode: Int64(bitPattern: snapshot.key.inode), digest: digest)
    }

    /// Returns the first standing that applies, and the path of an installed file.
    private func standing(of snapshot: ProcessSnapshot, _ executable: ExecutableIdentity?) -> (CallerIdentity.Standing, place: String?) {
        guard executable != nil, let path = snapshot.namedPath else {
            // An interpreter that was upgraded while it runs has no identity either way.
            let isInterpreter = executable.flatMap { PathBytes.pathBeforeDeletion($0.path) }.map { InterpreterNames.contain(Self.name($0)) }
            guard isInterpreter == true else { return (.unknown(.unseen), nil) }
            return (.unknown(snapshot.isTraced ? .traced : .interpreter), nil)
        }
        if snapshot.isTraced { return (.unknown(.traced), nil) }
        if InterpreterNames.contain(Self.name(path)) || hasInterpretersContent(snapshot) { return (.unknown(.interpreter), nil) }
        var places = RootOwnedFiles(of: snapshot)
        let place = places.place(ofExecutable: path)
        let packaged = place.flatMap(PackagedPlace.init)
        if case .flatpak(let name) = packaged, path.hasBytePrefix("/app/") {
            return (places.hasOnlyRootsCode(executable: path) == true ? .flatpak(name: name) : .unknown(.foreignCode), nil)
        }
        // In its own user namespace a process may choose which file it appears to execute.
        guard snapshot.shares("user") else { return (.unknown(.foreignCode), nil) }
        var isSnap: String?
        if case .snap(let name) = packaged { isSnap = name }
        guard let place, place.isSameBytes(as: path) || isSnap != nil else {
            return (snapshot.mayBeExchanged ? .unknown(.foreignCode) : .own, nil)
        }
        guard places.hasOnlyRootsCode(executable: path) == true else {
            // A program whose libraries were upgraded while it runs is the same program after a restart.
            let isUpgraded = places.hasOnlyRootsCode(executable: path, orReplaced: true) == true
            return (.unknown(isUpgraded ? .unseen : .foreignCode), place)
        }
        return (isSnap.map { .snap(name: $0) } ?? .installed, place)
    }

    /// Returns whether a process executes a copy of an interpreter, signed or not.
    private func hasInterpretersContent(_ snapshot: ProcessSnapshot) -> Bool {
        guard let findings = snapshot.findings else { return false }
        return interpreters.haveContent(findings.digest, size: snapshot.key.size)
            || interpreters.haveContent(findings.contentDigest, size: findings.contentSize)
    }

    /// Returns who signed the program of a process, if all code that it executes is covered by the signature or root's
    /// (Specs/code-signing.md).
    private func signer(of snapshot: ProcessSnapshot) -> CodeSigner? {
        guard case .valid(let code, let team)? = snapshot.findings?.signature, !code.isExpired(at: Int64(time(nil))),
            let path = snapshot.namedPath
        else { return nil }
        var places = RootOwnedFiles(of: snapshot)
        let makesCode = code.entitlements.map(NewCode.isPermitted) ?? false
        guard places.hasOnlyRootsOrItsOwnCode(executable: path, makesCode: makesCode) else { return nil }
        return CodeSigner(team: team, identifier: code.identifier, entitlements: code.entitlements)
    }

    private func isCommandLine(_ snapshot: ProcessSnapshot) -> Bool { commandLine.isExecuted(by: snapshot, digests) }

    /// A program that can control the command line has no need to start it.
    private func gap(aboutCommandLine snapshot: ProcessSnapshot) -> IdentityGap? {
        if snapshot.isTraced { return .traced }
        guard snapshot.shares("user"), !snapshot.mayBeExchanged else { return .foreignCode }
        var places = RootOwnedFiles(of: snapshot)
        guard let path = snapshot.namedPath, places.place(ofExecutable: path) != nil else { return nil }
        return places.hasOnlyRootsCode(executable: path) == true ? nil : .foreignCode
    }

    private static func link(_ snapshot: ProcessSnapshot) -> String {
        guard let path = snapshot.path, path.utf8.count <= CallerIdentity.linkBytesMax else { return "" }
        return path
    }

    private static func name(_ path: String) -> String { PathBytes.name(of: path) }
}

extension CallerIdentity.Standing {
    fileprivate var isKnown: Bool { if case .unknown = self { false } else { true } }
}
