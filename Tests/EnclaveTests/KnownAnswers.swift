import Crypto
import Enclave
import EnclaveWire
import Foundation
import TestSupport
import VaubanDER
import VaubanSecretBytes

/// Vectors/key-hierarchy.json, which Specs/key-hierarchy-vectors.py created without Vauban's code.
struct KnownAnswers: Decodable {
    struct Derived: Decodable { let key, label, context, derived: String }
    struct Wrapped: Decodable { let key, label, context, secret, wrapped: String }
    struct PasscodeKey: Decodable {
        let salt, context, stretched, tangled: String
        let log2Rounds, blockSize, parallelism: Int64
    }
    struct Slot: Decodable { let purpose: Int64; let key, passcodeKey, slot: String }
    struct Keybag: Decodable { let version1, version1WithoutPasscode, version2, version5: String }
    struct Attempts: Decodable { let version1, version2: String }
    struct Envelope: Decodable { let keybag1, keybag1WithoutPasscode, keybag2, keybag5, attempts1, attempts2, pairing: String }
    struct Row: Decodable {
        let name, binding, itemBinding, itemKey, wrapped: String
        let password: String?
        let kind: UInt8
    }
    struct Recovery: Decodable { let random, digits, privateKey, record, earlierDigits: String }
    struct Verdict: Decodable {
        let outcome: Int64, user: UInt32
        let nonce, fingers, pairingKey, covered, code: String
    }

    let deviceSecret, device, passcode, fingers: String
    let user: UInt32
    let derive: [Derived]
    let wrap: Wrapped
    let passcodeKey: PasscodeKey
    let slot: Slot
    let keybag: Keybag
    let attempts: Attempts
    let envelope: Envelope
    let rows: [Row]
    let recovery: Recovery
    let verdict: Verdict

    static func load(file: String = #filePath) throws -> KnownAnswers {
        let root = URL(fileURLWithPath: file).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return try JSONDecoder().decode(
            KnownAnswers.self, from: Data(contentsOf: root.appendingPathComponent("Vectors/key-hierarchy.json")))
    }

    /// Returns an enclave over files of the vectors, on their device.
    func bench(keybag: String? = nil, attempts: String? = nil, pairing: String? = nil) -> Workbench {
        var files: [String: [UInt8]] = [:]
        if let keybag { files["\(user)/keybag"] = octets(keybag) }
        if let attempts { files["\(user)/attempts"] = octets(attempts) }
        if let pairing { files["\(UInt32.max)/pairing"] = octets(pairing) }
        return Workbench(files: files, secret: octets(deviceSecret))
    }
}

extension KnownAnswers.Row {
    func sealed() throws -> SealedRow {
        SealedRow(try RowBinding(derBytes: octets(binding)), wrapped: octets(wrapped), key: octets(itemKey))
    }
}

func octets(_ hex: String) -> [UInt8] { stride(from: 0, to: hex.count, by: 2).compactMap { UInt8(hex.dropFirst($0).prefix(2), radix: 16) } }
