// The identity of a caller according to the system (Specs/caller-identity.md): everything that the witness determined, as one value.

package import VaubanAccessPolicy
package import VaubanDER
package import VaubanUserModel

/// An executable, as the witness found it.
package struct ExecutableIdentity: Hashable, Sendable, DERReadable, DERWritable {
    package let path: String
    package let device: Int64
    package let inode: Int64
    /// SHA-256 of the file's content.
    package let digest: [UInt8]

    package init(path: String, device: Int64, inode: Int64, digest: [UInt8]) {
        self.path = path
        self.device = device
        self.inode = inode
        self.digest = digest
    }

    package init(from fields: inout DERFields) throws {
        path = try fields.text("path", max: 4096)
        device = try fields.integer("device", in: Int64.min...Int64.max)
        inode = try fields.integer("inode", in: Int64.min...Int64.max)
        digest = try fields.octets("digest", in: 32...32)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.text(path)
            try fields.integer(device)
            try fields.integer(inode)
            try fields.octets(digest)
        }
    }
}

/// The program that a caller acts for: the caller itself, or, if the caller is Vauban's own command line, its nearest ancestor that is not
/// part of Vauban.
///
/// `CallerIdentity ::= SEQUENCE { standing CHOICE { unknown [0] { gap }, installed [1], flatpak [2] { name },
///   snap [3] { name }, own [4] }, throughCommandLine BOOLEAN, executable [0] ExecutableIdentity OPTIONAL,
///   package [1] UTF8String OPTIONAL, unit [2] UTF8String OPTIONAL, signer [3] CodeSigner OPTIONAL,
///   chain SEQUENCE OF SEQUENCE { UTF8String }, parents [4] SEQUENCE OF SEQUENCE { UTF8String } OPTIONAL }`; only a caller of the standing
/// `own` that is not the command line has a signer.
package struct CallerIdentity: Hashable, Sendable {
    /// The kind of identity.
    package enum Standing: Hashable, Sendable {
        case unknown(IdentityGap)
        /// A file owned by root, in folders that only root can change.
        case installed
        case flatpak(name: String)
        case snap(name: String)
        /// A file of the user, or of any other user except root: identified by its digest alone.
        case own
    }

    package let standing: Standing
    /// Whether the caller is `vauban` itself, and everything here describes the program that started it.
    package let throughCommandLine: Bool
    /// The executable, if the witness could inspect it, even if the standing is unknown (an interpreter has a file too).
    package let executable: ExecutableIdentity?
    /// The distribution package of the file; nil if it cannot be determined.
    package let package: String?
    /// The systemd unit or scope of the program. For display only: a user can create scopes of any name.
    package let unit: String?
    /// The signer of the program; nil if it has none, or if it executes code that the signature does not cover.
    package let signer: CodeSigner?
    /// The executables from the caller to this program, the caller's first; empty text for one that could not be inspected.
    package let chain: [String]
    /// The executables of the processes above this program, the nearest first; empty text for one whose path could not be read. Only the
    /// access log uses them: they may change while the program runs, and no decision depends on them.
    package private(set) var parents: [String]

    package static let chainMax = 16
    package static let parentsMax = 8
    package static let nameBytesMax = 256
    /// The limit for a path in the chain, and for one of the parents. A longer path counts as one that could not be inspected.
    package static let linkBytesMax = 1024

    package init(
        _ standing: Standing, throughCommandLine: Bool = false, executable: ExecutableIdentity? = nil, package: String? = nil,
        unit: String? = nil, signer: CodeSigner? = nil, chain: [String] = [], parents: [String] = []
    ) {
        self.standing = standing
        self.throughCommandLine = throughCommandLine
        self.executable = executable
        self.package = package
        self.unit = unit
        self.signer = signer
        self.chain = chain
        self.parents = parents
    }

    /// An identity for a caller that could not be inspected.
    package static let unseen = CallerIdentity(.unknown(.unseen))

    /// The same program without its parents. Identities are compared without them.
    package var withoutParents: CallerIdentity {
        var copy = self
        copy.parents = []
        return copy
    }

    /// The application identifier; nil if there is none. For a signed program it is the identifier that the program would have without its
    /// signature, since this value does not include whom the user trusts.
    package var application: ApplicationIdentifier? {
        switch standing {
        case .unknown: nil
        case .installed: executable.map { .installed(path: $0.path) }
        case .flatpak(let name): .flatpak(name)
        case .snap(let name): .snap(name)
        case .own: executable.map { .build(digest: $0.digest) }
        }
    }

    package var gap: IdentityGap? {
        if case .unknown(let gap) = standing { gap } else { nil }
    }
}

extension CallerIdentity: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        let number = try fields.choice("standing")
        let standing: Standing? = try fields.optional(number, "standing") { standing in
            switch number {
            case 0:
                guard let gap = IdentityGap(rawValue: try standing.integer("gap", in: 1...255)) else {
                    throw DERError("gap is unknown")
                }
                return .unknown(gap)
            case 1: return .installed
            case 2: return .flatpak(name: try standing.text("name", max: Self.nameBytesMax))
            case 3: return .snap(name: try standing.text("name", max: Self.nameBytesMax))
            case 4: return .own
            default: throw DERError("standing is unknown")
            }
        }
        guard let standing else { throw DERError("standing is missing") }
        self.standing = standing
        throughCommandLine = try fields.boolean("through the command line")
        executable = try fields.optional(0, "executable") { try $0.value("executable", as: ExecutableIdentity.self) }
        package = try fields.optionalText(1, "package", max: Self.nameBytesMax)
        unit = try fields.optionalText(2, "unit", max: Self.nameBytesMax)
        signer = try fields.optional(3, "signer") { try $0.value("signer", as: CodeSigner.self) }
        guard signer == nil || (standing == .own && !throughCommandLine) else { throw DERError("such an identity has no signer") }
        chain = try fields.list("chain", max: Self.chainMax, of: ChainLink.self).map(\.path)
        let parents = try fields.optional(4, "parents") {
            try $0.list("parents", max: Self.parentsMax, of: ChainLink.self).map(\.path)
        }
        guard parents?.isEmpty != true else { throw DERError("parents are empty") }
        self.parents = parents ?? []
        switch standing {
        case .installed, .own: guard executable != nil else { throw DERError("an identity by file has no file") }
        case .unknown, .flatpak, .snap: break
        }
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            switch standing {
            case .unknown(let gap): try fields.tagged(0) { try $0.integer(gap.rawValue) }
            case .installed: fields.tagged(1) { _ in }
            case .flatpak(let name): try fields.tagged(2) { try $0.text(name) }
            case .snap(let name): try fields.tagged(3) { try $0.text(name) }
            case .own: fields.tagged(4) { _ in }
            }
            try fields.boolean(throughCommandLine)
            if let executable { try fields.tagged(0) { try $0.value(executable) } }
            try fields.optionalText(1, package)
            try fields.optionalText(2, unit)
            if let signer { try fields.tagged(3) { try $0.value(signer) } }
            try fields.list(chain.map { ChainLink(path: $0) })
            if !parents.isEmpty { try fields.tagged(4) { try $0.list(parents.map { ChainLink(path: $0) }) } }
        }
    }
}

/// One executable of the chain, or of the parents.
private struct ChainLink: DERReadable, DERWritable {
    let path: String

    init(path: String) { self.path = path }
    init(from fields: inout DERFields) throws { path = try fields.text("path", max: CallerIdentity.linkBytesMax) }
    func write(into der: inout DERWriter) throws { try der.sequence { try $0.text(path) } }
}
