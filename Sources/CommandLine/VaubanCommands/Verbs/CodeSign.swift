import ArgumentParser
import Foundation
import VaubanAccessPolicy
import VaubanCodeSigning
import VaubanRefusal

struct CodeSign: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "codesign",
        abstract: "Sign programs, so that each new build keeps its items.",
        discussion: """
            Where a team is trusted (vauban team trust), every build that it signs under one identifier is one program: its items and \
            access groups stay with it. Sign last: tools that rewrite an executable damage its signature. Statically link libraries \
            that root does not own. Exits 1 if --verify finds a program that is not signed, or whose signature is damaged or expired.

            Example:
              vauban team new acme
              vauban codesign --sign acme --identifier com.acme.tool --entitlements tool.entitlements .build/release/tool
              vauban codesign --verify .build/release/tool
              vauban codesign --display --json .build/release/tool
            """)

    enum Mode: EnumerableFlag {
        case verify
        case display
        case remove

        static func help(for value: Mode) -> ArgumentHelp? {
            switch value {
            case .verify: "Verify the signature of each program."
            case .display: "Show the signature of each program, with its entitlements."
            case .remove: "Remove the signature of each program."
            }
        }
    }

    @Option(help: ArgumentHelp("Sign as this team of yours.", valueName: "team")) var sign: String?
    @Flag var mode: Mode?
    @Option(help: "The identifier of the program, such as com.acme.tool (default: the name of the file).") var identifier: String?
    @Option(help: ArgumentHelp("A property list with the entitlements of the program.", valueName: "file"), completion: .file())
    var entitlements: String?
    @Option(help: ArgumentHelp("The day on which the signature expires.", valueName: "YYYY-MM-DD")) var expires: String?
    @Flag(help: "With --display, print JSON, with the parts of the DSSE envelope.") var json = false
    @Argument(help: ArgumentHelp("The programs.", valueName: "path"), completion: .file()) var paths: [String]
    @OptionGroup var user: UserOptions

    func validate() throws {
        guard (sign != nil) != (mode != nil) else { throw ValidationError("Use one of --sign TEAM, --verify, --display and --remove") }
        guard sign != nil || (identifier == nil && entitlements == nil && expires == nil) else {
            throw ValidationError("--identifier, --entitlements and --expires require --sign")
        }
        guard !json || mode == .display else { throw ValidationError("--json requires --display") }
        if let identifier { try Self.check(identifier: identifier) }
        if let expires { _ = try Self.date(expires) }
    }

    func run() throws {
        switch mode {
        case .none: try signAll()
        case .remove: try removeAll()
        case .verify:
            let described = try descriptions()
            for description in described { print(description.line) }
            guard described.allSatisfy(\.isValid) else { throw ExitCode(1) }
        case .display:
            let described = try descriptions()
            print(json ? try ItemDescription.json(described) : described.map(\.text).joined(separator: "\n\n"))
        }
    }

    private func signAll() throws {
        guard let sign else { return }
        let client = try ServiceClient(user)
        let keyring = TeamKeyring(client)
        let key = try keyring.key(sign)
        let expiry = try expires.map(Self.date)
        // Check all programs before signing the first.
        let programs = try paths.map { path in
            let file = try ExecutableFile(path)
            try file.checkSignable()
            let identifier = try identifier(of: file)
            let list = try entitlements.map { try SigningEntitlements(file: $0, team: key.team, identifier: identifier) }
            return (file, identifier, list)
        }
        for (file, identifier, list) in programs {
            try file.rewrite { digest in
                let description = try CodeDescription(
                    identifier: identifier, size: file.findings.contentSize, digest: digest, signed: Int64(Date().timeIntervalSince1970),
                    expires: expiry, entitlements: list?.bytes)
                return try SignatureArea.encode(try keyring.sign(description, with: key))
            }
            say("Signed \(SafeText.visible(file.path)) as \(identifier) by \(SafeText.visible(key.name)) (\(key.team)).")
        }
    }

    private func removeAll() throws {
        for path in paths {
            let file = try ExecutableFile(path)
            guard file.findings.signature != .none else {
                say("\(SafeText.visible(file.path)) is not signed.")
                continue
            }
            try file.rewrite { _ in nil }
            say("Removed the signature of \(SafeText.visible(file.path)).")
        }
    }

    private func descriptions() throws -> [SignatureDescription] {
        // Signatures can be verified without a keychain; then only the trusted teams are unknown.
        let trusted = (try? ServiceClient(user).trustedTeams()) ?? [:]
        return try paths.map { SignatureDescription(try ExecutableFile($0), trusted: trusted, now: Date()) }
    }

    private func identifier(of file: ExecutableFile) throws -> String {
        if let identifier { return identifier }
        let name = String(file.path.split(separator: "/").last ?? "")
        guard ApplicationIdentifier.isProgramIdentifier(name) else {
            throw Refusal(.badParameter, "\(SafeText.visible(name)) cannot be an identifier; give --identifier, such as com.acme.tool")
        }
        return name
    }

    private static func check(identifier: String) throws {
        guard ApplicationIdentifier.isProgramIdentifier(identifier) else {
            throw ValidationError(
                """
                An identifier has letters, digits, hyphens, dots and underscores, at most \
                \(ApplicationIdentifier.programIdentifierBytesMax), such \
                as com.acme.tool
                """)
        }
    }

    /// Returns the beginning of a day in UTC, in seconds since 1970-01-01.
    private static func date(_ text: String) throws -> Int64 {
        let form = Date.ISO8601FormatStyle(timeZone: .gmt).year().month().day()
        guard let date = try? form.parse(text), date > Date() else {
            throw ValidationError("--expires takes a day in the future, such as 2030-01-31")
        }
        return Int64(date.timeIntervalSince1970)
    }
}
