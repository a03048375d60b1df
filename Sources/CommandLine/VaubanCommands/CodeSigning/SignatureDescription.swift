// A signature as vauban codesign shows it.

import Foundation
import VaubanAccessPolicy
import VaubanCodeSigning
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanPlainText

struct SignatureDescription: Encodable {
    let path: String
    /// `valid`, `expired`, `damaged` or `unsigned`.
    let state: String
    /// Why a signature is damaged.
    var reason: String?
    var identifier: String?
    var team: String?
    /// The name of the team, if it is trusted.
    var teamName: String?
    var signed: Date?
    var expires: Date?
    var entitlements: String?
    /// The parts of the DSSE envelope, in base64.
    var publicKey: Data?
    var payload: Data?
    var payloadType: String?
    var signature: Data?

    var isValid: Bool { state == "valid" }

    init(_ file: ExecutableFile, trusted: [TeamIdentifier: String], now: Date) {
        path = file.path
        switch file.findings.signature {
        case .none: state = "unsigned"
        case .damaged(let damage):
            state = "damaged"
            reason = Self.words(damage)
        case .valid(let code, let team):
            state = code.isExpired(at: Int64(now.timeIntervalSince1970)) ? "expired" : "valid"
            identifier = code.identifier
            self.team = team.text
            teamName = trusted[team]
            signed = Self.date(code.signed)
            expires = code.expires.map(Self.date)
            entitlements = code.entitlements.map { String(decoding: $0, as: UTF8.self) }
        }
        guard let code = file.findings.code else { return }
        publicKey = Data(code.key)
        payload = Data(code.description)
        payloadType = SignedCode.payloadType
        signature = Data(code.signature)
    }

    /// One line, for `--verify`.
    var line: String {
        let who = identifier.map { " as \($0) by \(shownTeam)" } ?? ""
        let until = expires.map { " on \(StatusText.time($0))" } ?? ""
        return switch state {
        case "valid": "\(SafeText.visible(path)): signed\(who)"
        case "expired": "\(SafeText.visible(path)): signed\(who); the signature expired\(until)"
        case "damaged": "\(SafeText.visible(path)): damaged signature: \(reason ?? "")"
        default: "\(SafeText.visible(path)): not signed"
        }
    }

    /// The complete description, for `--display`.
    var text: String {
        guard let identifier, let signed else { return line }
        var rows = [
            "\(SafeText.visible(path))", "Identifier: \(identifier)", "Team: \(shownTeam)", "Signed: \(StatusText.time(signed))",
            "Expires: \(expires.map(StatusText.time) ?? "never")\(state == "expired" ? " (expired)" : "")",
        ]
        if let entitlements {
            rows.append("Entitlements:")
            rows += entitlements.split(separator: "\n").map { "  \(SafeText.line(String($0), max: 1000))" }
        }
        return rows.joined(separator: "\n")
    }

    private var shownTeam: String { "\(team ?? "") (\(teamName.map { "\(SafeText.visible($0)), trusted" } ?? "not trusted here"))" }

    private static func date(_ seconds: Int64) -> Date { Date(timeIntervalSince1970: TimeInterval(seconds)) }

    private static func words(_ damage: DamagedSignature) -> String {
        switch damage {
        case .malformed: "its form is not known to this version of Vauban"
        case .badKey: "its key is not a P-256 key"
        case .badSignature: "it was not made by its key, or was altered"
        case .otherContent: "the file was changed after it was signed"
        }
    }
}

extension ServiceClient {
    /// Returns the teams whose signatures are trusted here, with their names.
    func trustedTeams() throws -> [TeamIdentifier: String] {
        let permissions = try withUnlock { try keychain.permissions() }
        return permissions.reduce(into: [:]) { teams, permission in
            guard permission.kind == .team, let team = TeamIdentifier(text: permission.subject) else { return }
            teams[team] = String(permission.object.split(separator: "\t").first ?? "")
        }
    }
}
