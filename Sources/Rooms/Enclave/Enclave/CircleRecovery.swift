// The recovery key of a circle (Specs/sync.md, "Joining by the recovery key"): the keys derived from it, and its part in a statement.

import VaubanDER
package import VaubanSecretBytes
import VaubanSyncModel

/// The bytes of a circle's recovery key. They leave the enclave once and are not stored.
package final class CircleRecoveryKey: Sendable {
    package let bytes: SecretBytes

    init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
}

/// The circle of a recovery key, as far as its statements were followed, while one connection joins it with that key. Nothing of it is
/// stored.
package final class CircleRecovery: Sendable {
    let member: CircleMembership

    init(_ member: CircleMembership) { self.member = member }

    /// The names of the members.
    package var names: [String] { member.body.members.map(\.name) }
}

/// A statement's part for the holder of the recovery key.
struct RecoveryPart: DERReadable, DERWritable {
    let share: CircleStatement.Share
    /// In the statement that makes the key, the key's signature over the statement without this proof. Making the proof requires the
    /// private half.
    let proof: [UInt8]?

    init(share: CircleStatement.Share, proof: [UInt8]?) {
        self.share = share
        self.proof = proof
    }

    init(from fields: inout DERFields) throws {
        share = try fields.value("share")
        proof = try fields.optionalOctets(0, "proof", in: 64...64)
    }

    func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.value(share)
            try fields.optionalOctets(0, proof)
        }
    }
}

/// The effect of a statement on the recovery key of its circle.
enum RecoveryStep {
    case keep
    case end
    case make(CircleSecrets, CircleDevice)
}

extension CircleSecrets {
    /// Returns the keys derived from a recovery key for one circle, and their public halves. For another circle they differ.
    static func recovery(_ key: borrowing SecretBytes, circle: [UInt8]) throws -> (CircleSecrets, CircleDevice) {
        let seed = KeyWrap.derive(from: key, label: "vauban sync recovery encapsulation v1", context: circle)
        let signing = KeyWrap.derive(from: key, label: "vauban sync recovery signing v1", context: circle)
        let secrets = CircleSecrets(joined(seed, signing))
        let name = KeyWrap.derive(from: key, label: "vauban sync recovery identifier v1", context: circle)
        let device = name.withUnsafeBytes { Array($0.prefix(CircleRequest.deviceBytes)) }
        return (secrets, try secrets.device(device, called: ""))
    }
}

extension CircleStatement {
    /// The statement without the proof, which the recovery key signs.
    private var unproven: CircleStatement {
        CircleStatement(
            circle: circle, number: number, previous: previous, epoch: epoch, signer: signer, shares: shares, members: members,
            earlier: earlier, companions: companions, recovery: recovery.map { RecoveryPart(share: $0.share, proof: nil) })
    }

    /// Returns the statement with a proof by the recovery key that it makes.
    func proven(by secrets: CircleSecrets) throws -> CircleStatement {
        guard let recovery else { return self }
        let proof = try secrets.sign(.recovery, try unproven.encoded())
        return CircleStatement(
            circle: circle, number: number, previous: previous, epoch: epoch, signer: signer, shares: shares, members: members,
            earlier: earlier, companions: companions, recovery: RecoveryPart(share: recovery.share, proof: proof))
    }

    /// Returns whether this statement makes this recovery key and its proof verifies, so that its maker had the private half.
    func makes(_ device: CircleDevice) -> Bool {
        guard let recovery, recovery.share.device == device.device, let proof = recovery.proof, let bytes = try? unproven.encoded() else {
            return false
        }
        return CircleSignature.recovery.isValid(proof, of: bytes, by: device.verification)
    }
}

/// The statement that makes a recovery key, as the holder of the key reads it without a device. Tests compare its public properties with
/// vectors.
package struct RecoveryStatement {
    package let number: Int64
    package let epoch: Int64
    package let device: [UInt8]
    package let verification: [UInt8]

    /// Parses a statement; nil if it does not make this key.
    package init?(_ bytes: [UInt8], key: borrowing SecretBytes) throws {
        let (_, statement) = try CircleMembership.decoded(bytes)
        let (_, device) = try CircleSecrets.recovery(key, circle: statement.circle)
        guard statement.makes(device) else { return nil }
        (number, epoch, self.device, verification) = (statement.number, statement.epoch, device.device, device.verification)
    }
}
