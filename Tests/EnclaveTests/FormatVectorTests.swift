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
    @Test("The machine file names this machine, another, or is refused as the vectors say") func machineFiles() throws {
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
            return ["content": FormatVectors.hexadecimal(content)]
        }
    }

    @Test("Join requests by a token are proven or refused as the vectors say") func joinRequests() throws {
        try FormatVectors("sync-join-requests").check { vector in
            let request = try TokenRequest(derBytes: vector.content)
            guard request.isProven(in: try vector.givenBytes("circle")) else { return nil }
            return [
                "member": FormatVectors.hexadecimal(request.member), "token": FormatVectors.hexadecimal(request.verification),
                "name": request.name,
            ]
        }
    }

    @Test("The statement that makes a recovery key is found by it or refused as the vectors say") func recoveryStatements() throws {
        try FormatVectors("sync-recovery-statements").check { vector in
            guard let made = try RecoveryStatement(vector.content, key: SecretBytes(copying: try vector.givenBytes("key"))) else {
                return nil
            }
            return [
                "number": "\(made.number)", "epoch": "\(made.epoch)", "device": FormatVectors.hexadecimal(made.device),
                "verification": FormatVectors.hexadecimal(made.verification),
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
