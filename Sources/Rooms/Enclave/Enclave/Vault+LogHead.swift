// The signed end of the access log, which leaves the machine (Specs/access-log.md, "The head"). Its keys are derived from the newest key
// for private keys, so nothing more is stored, and nothing is signed while the device is locked.

import Crypto
import EnclaveWire
internal import VaubanLinuxHost
package import VaubanLogHead
package import VaubanRefusal
import VaubanSecretBytes
import VaubanSignedNote

/// A key that signs heads.
private struct HeadKey {
    let signing: Curve25519.Signing.PrivateKey
    let note: NoteKey

    init(_ kind: NoteKey.Kind, from key: borrowing SecretBytes, name: String, context: [UInt8]) throws {
        let label =
            switch kind {
            case .text: "vauban access log head v1"
            case .cosignature: "vauban access log cosignature v1"
            }
        let seed = KeyWrap.derive(from: key, label: label, context: context)
        signing = try seed.withUnsafeBytes { try Curve25519.Signing.PrivateKey(rawRepresentation: $0) }
        note = NoteKey(name: name, kind: kind, publicKey: Array(signing.publicKey.rawRepresentation))
    }
}

/// The keys of a user's log.
private struct HeadKeys {
    /// The newest first.
    let heads: [HeadKey]
    let cosigner: HeadKey
}

extension Vault {
    /// Signs the end of the log that is kept here, and nothing else; or cosigns the head of another device's log, as seen now. Throws while
    /// the device is locked.
    package func signLogHead(_ request: LogHeadRequest) throws(Refusal) -> SignedLogHead {
        let (own, keys) = try headKeys()
        let note =
            if let bytes = request.cosigning {
                try cosigned(bytes, by: keys.cosigner)
            } else {
                SignedNote(text: own.text, signatures: [try Self.signature(Array(own.text.utf8), by: keys.heads[0])])
            }
        return SignedLogHead(
            note: note.bytes, keys: keys.heads.map { LogHeadKey(text: $0.note.text) }, cosigner: LogHeadKey(text: keys.cosigner.note.text))
    }

    private func cosigned(_ bytes: [UInt8], by key: HeadKey) throws(Refusal) -> SignedNote {
        guard var note = SignedNote(bytes), let head = note.head, head.origin != key.note.name else {
            throw Refusal(.badParameter, "This is not the end of another device's access log")
        }
        // Removes this device's earlier cosignature.
        note.signatures.removeAll { $0.name == key.note.name }
        guard note.signatures.count < SignedNote.signaturesMax else { throw Refusal(.badParameter, "The note has too many signatures") }
        // Converts microseconds since 2001 to seconds since 1970.
        let time = max(0, host.clock.referenceMicroseconds / 1_000_000 + 978_307_200)
        note.signatures.append(try Self.signature(NoteKey.cosigned(note.text, at: time), by: key, at: time))
        return note
    }

    private static func signature(_ bytes: [UInt8], by key: HeadKey, at time: Int64 = 0) throws(Refusal) -> SignedNote.Signature {
        do { return key.note.signature(Array(try key.signing.signature(for: bytes)), at: time) } catch {
            throw Refusal(.internalError, "the end of the access log cannot be signed")
        }
    }

    /// Returns the head of this log, and its keys.
    private func headKeys() throws(Refusal) -> (LogHead, HeadKeys) {
        try state.withLock { (state) throws(Refusal) -> (LogHead, HeadKeys) in
            let end = try logState(&state).end
            let head = LogHead(device: host.backend.deviceIdentifier, user: user, number: end.number, chain: end.chain)
            let (bag, classKey) = try logClassKey(&state)
            let (newest, changed) = try bag.keyForPrivateKeys(Self.logClass, under: classKey)
            if changed != bag { try state.replaceKeybag(changed, host) }
            let context = host.backend.deviceIdentifier + withUnsafeBytes(of: user.bigEndian) { Array($0) }
            do {
                var heads = [try HeadKey(.text, from: newest.key, name: head.origin, context: context)]
                for slot in bag.slots where slot.purpose == .privateKeys(Self.logClass) && slot.generation != newest.generation {
                    heads.append(try HeadKey(.text, from: try bag.open(slot, with: classKey.key), name: head.origin, context: context))
                }
                let cosigner = try HeadKey(.cosignature, from: newest.key, name: head.origin, context: context)
                return (head, HeadKeys(heads: heads, cosigner: cosigner))
            } catch {
                throw (error as? Refusal) ?? Refusal(.internalError, "the keys of the access log cannot be made")
            }
        }
    }
}
