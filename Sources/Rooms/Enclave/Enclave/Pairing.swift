// The key that the fingerprint reader was paired with. It is the device's, not a user's.

package import EnclaveWire
import SwiftASN1
import VaubanDER
internal import VaubanLinuxHost
package import VaubanRefusal
import VaubanSecretBytes

/// `PairingRecord ::= SEQUENCE { version INTEGER (1), wrapped OCTET STRING }`: the key under a key of the device.
struct PairingRecord: DERReadable, DERWritable {
    let wrapped: [UInt8]

    init(wrapped: [UInt8]) { self.wrapped = wrapped }

    init(from fields: inout DERFields) throws {
        try fields.version(1)
        wrapped = try fields.octets("wrapped key", in: 28...256)
    }

    func write(into der: inout DER.Serializer) throws {
        try der.sequence {
            try $0.integer(1); try $0.octets(wrapped)
        }
    }
}

/// Pairs with whoever the kernel says is the reader's user, and believes the newest key only. A reader that says it has
/// none is given a new one at any time: what tells the reader from others is its user, and the key only that a word is
/// of the reader that was paired last.
package final class Pairing: Sendable {
    package enum Greeting: Sendable {
        case known
        /// To be handed to the reader, once.
        case new(HeldSecret)
    }

    /// The state of the device itself lies beside users', under the one number that is no user.
    static let device = UInt32.max
    private static let label = "vauban reader pairing v1"
    private let host: EnclaveHost
    private let key = ThreadMutex<HeldSecret?>(nil)

    package init(host: EnclaveHost) { self.host = host }

    /// A reader that has its key is known if there is one; any other gets a new key, and what an older reader said is not
    /// believed any more.
    package func greet(isPaired: Bool) throws(Refusal) -> Greeting {
        try key.withLock { (key) throws(Refusal) -> Greeting in
            if isPaired, let known = try load() {
                key = known
                return .known
            }
            let fresh = try Keybag.randomKey()
            let wrapped: [UInt8]
            do throws(WrapError) {
                wrapped = try KeyWrap.wrap(fresh, under: try wrapKey(), label: Self.label, context: [])
            } catch {
                throw Refusal(.internalFault, "a pairing key cannot be wrapped")
            }
            try host.write(PairingRecord(wrapped: wrapped), .pairing, Self.device).orThrow()
            key = HeldSecret(fresh.duplicate())
            return .new(HeldSecret(fresh))
        }
    }

    /// Whether a verdict is under the key.
    package func vouches(for verdict: ReaderVerdict) -> Bool {
        key.withLock { key in
            guard let key else { return false }
            return KeyWrap.isValid(verdict.code, of: verdict.covered, under: key.secret)
        }
    }

    /// Nil when there is none, or none that can be read: then the reader is paired anew. A later Vauban's is left alone.
    private func load() throws(Refusal) -> HeldSecret? {
        do {
            guard let bytes = try host.store.read(.pairing, of: Self.device, max: EnclaveLimits.attemptRecordBytesMax) else { return nil }
            let content = try StateEnvelope.open(bytes, name: .pairing, user: Self.device, backend: host.backend)
            return HeldSecret(
                try KeyWrap.unwrap(try PairingRecord(derBytes: content).wrapped, under: try wrapKey(), label: Self.label, context: []))
        } catch let fault as StateError {
            throw Refusal(.storageFailed, "\(fault)")
        } catch StateEnvelope.Fault.newer(let version) {
            throw Self.newer(version)
        } catch let fault as DERError where fault.newerVersion != nil {
            throw Self.newer(fault.newerVersion ?? 0)
        } catch {
            return nil
        }
    }

    private static func newer(_ version: Int64) -> Refusal {
        Refusal(.stateUnreadable, "the reader was paired by a later Vauban (version \(version)); nothing was changed")
    }

    private func wrapKey() throws(WrapError) -> SecretBytes {
        do throws(BackendError) { return try host.backend.deviceKey(label: "vauban reader pairing wrap v1", context: []) } catch {
            throw WrapError()
        }
    }
}
