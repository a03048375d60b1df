import Enclave
import EnclaveSoftware
import EnclaveWire
import Foundation
import TestSupport
import Testing
import VaubanDER
import VaubanLinuxHost
import VaubanSecretBytes

/// The vectors of the files beside the keybag, and of the reader's reports.
@Suite struct FormatVectorTests {
    @Test("Machine files name this machine or another, or are refused, as the vectors say") func machineFiles() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("vauban-machine-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let folder = try PrivateFolder(path: path, creating: true)
        try FormatVectors("machine").check { vector in
            try DurableFile(MachineFingerprint.name, in: folder).replace(with: vector.content)
            switch MachineFingerprint.warning(in: folder, machineID: try vector.given("machineID")) {
            case nil: return ["machine": "the same"]
            case .some(let warning): return warning.hasPrefix("this machine is a copy") ? ["machine": "another"] : nil
            }
        }
    }

    @Test("State files open or are refused as the vectors say") func stateEnvelopes() throws {
        try FormatVectors("state-envelopes").check { vector in
            let name = try #require(StateName(rawValue: try vector.given("file")))
            let user = try #require(UInt32(try vector.given("user")))
            let device = MemoryDevice(secret: try vector.givenBytes("deviceSecret"))
            let content = try StateEnvelope.open(vector.content, name: name, user: user, backend: device)
            return ["content": hexadecimal(content)]
        }
    }

    @Test("Documents of a circle are read or refused as the vectors say") func circleDocuments() throws {
        try FormatVectors("sync-documents").check { vector in
            switch try vector.given("message") {
            case "commitment":
                let commitment = try CircleCommitment(derBytes: vector.content)
                return ["device": hexadecimal(commitment.device), "digest": hexadecimal(commitment.digest)]
            case "answer":
                let answer = try CircleAnswer(derBytes: vector.content)
                return [
                    "circle": hexadecimal(answer.circle), "digest": hexadecimal(answer.digest), "member": hexadecimal(answer.member.device),
                    "name": answer.member.name, "verification": hexadecimal(answer.member.verification), "nonce": hexadecimal(answer.nonce),
                ]
            case "reveal":
                let reveal = try CircleReveal(derBytes: vector.content)
                guard let codes = reveal.codes(over: try vector.givenBytes("answer")) else { return nil }
                return [
                    "device": hexadecimal(reveal.newcomer.device), "name": reveal.newcomer.name,
                    "verification": hexadecimal(reveal.newcomer.verification),
                    "codes": [codes.newcomer, codes.member].map { $0.replacing(" ", with: "") }.joined(separator: " "),
                ]
            case "statement":
                let signed = try SignedStatement(derBytes: vector.content)
                let statement = try CircleStatement(derBytes: signed.statement)
                guard signed.isSigned(by: try vector.givenBytes("verification")) else { return nil }
                return [
                    "circle": hexadecimal(statement.circle), "number": "\(statement.number)", "previous": hexadecimal(statement.previous),
                    "epoch": "\(statement.epoch)", "signer": hexadecimal(statement.signer),
                    "shares": statement.shares.map { hexadecimal($0.device) }.joined(separator: " "),
                    "members": hexadecimal(statement.members), "earlier": hexadecimal(statement.earlier ?? []),
                ]
            default: return nil
            }
        }
    }

    @Test("Join requests by a token are proven or refused as the vectors say") func joinRequests() throws {
        try FormatVectors("sync-join-requests").check { vector in
            let request = try TokenRequest(derBytes: vector.content)
            guard request.isProven(in: try vector.givenBytes("circle")) else { return nil }
            return [
                "member": hexadecimal(request.member), "token": hexadecimal(request.verification),
                "name": request.name,
            ]
        }
    }

    @Test("A recovery key finds the statement that makes it, or refuses it, as the vectors say") func recoveryStatements() throws {
        try FormatVectors("sync-recovery-statements").check { vector in
            guard let made = try RecoveryStatement(vector.content, key: SecretBytes(copying: try vector.givenBytes("key"))) else {
                return nil
            }
            return [
                "number": "\(made.number)", "epoch": "\(made.epoch)", "device": hexadecimal(made.device),
                "verification": hexadecimal(made.verification),
            ]
        }
    }

    @Test("The reader's verdicts are authenticated or refused as the vectors say") func verdicts() throws {
        try FormatVectors("verdicts").check { vector in
            let verdict = try ReaderVerdict(derBytes: vector.content)
            let key = SecretBytes(copying: try vector.givenBytes("pairingKey"))
            guard KeyWrap.isValid(verdict.code, of: verdict.covered, under: key) else { return nil }
            return ["outcome": "\(verdict.outcome.rawValue)", "user": "\(verdict.user)"]
        }
    }
}
