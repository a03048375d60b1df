// The key with which the fingerprint reader is paired. It belongs to the device and not to a user.

package import EnclaveWire
import VaubanDER
internal import VaubanLinuxHost
package import VaubanRefusal
import VaubanSecretBytes

/// `PairingRecord ::= SEQUENCE { version INTEGER (1), wrapped OCTET STRING }`: the pairing key, wrapped by a device key.
struct PairingRecord: DERReadable, DERWritable {
    let wrapped: [UInt8]

    init(wrapped: [UInt8]) { self.wrapped = wrapped }

    init(from fields: inout DERFields) throws {
        try fields.version(1)
        wrapped = try fields.octets("wrapped key", in: 28...256)
    }

    func write(into der: inout DERWriter) throws {
        try der.sequence {
            try $0.integer(1); try $0.octets(wrapped)
        }
    }
}

/// The pairing with the fingerprint reader. It accepts any process with the reader's uid, and only the newest key. A reader without a key
/// gets a new one at any time: the uid distinguishes the reader from other processes, and the key only identifies the reader that was
/// paired last.
package final class Pairing: Sendable {
    package enum Greeting: Sendable {
        case known
        /// Sent to the reader, once.
        case new(HeldSecret)
    }

    /// The uid under which the device's own state is stored. It is the one number that is no user's.
    static let device = UInt32.max
    private static let label = "vauban reader pairing v1"
    private let host: EnclaveHost
    private let key = ThreadMutex<HeldSecret?>(nil)

    package init(host: EnclaveHost) { self.host = host }

    /// Greets a reader that connected. A reader with the stored key is recognized. Any other gets a new key, and verdicts under older keys
    /// are no longer accepted.
    package func handleHello(isPaired: Bool) throws(Refusal) -> Greeting {
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
                throw Refusal(.internalError, "a pairing key cannot be wrapped")
            }
            try host.write(PairingRecord(wrapped: wrapped), to: .pairing, user: Self.device).throwIfUnsure()
            key = HeldSecret(fresh.duplicate())
            return .new(HeldSecret(fresh))
        }
    }

    /// Returns whether a verdict is authenticated by the pairing key.
    package func authenticates(_ verdict: ReaderVerdict) -> Bool {
        key.withLock { key in
            guard let key else { return false }
            return KeyWrap.isValid(verdict.code, of: verdict.covered, under: key.secret)
        }
    }

    /// Loads the pairing key; nil if it is missing or unreadable, so that the reader is paired again. A file of a later version is not
    /// changed.
    private func load() throws(Refusal) -> HeldSecret? {
        do {
            guard let bytes = try host.store.read(.pairing, of: Self.device, max: EnclaveLimits.attemptRecordBytesMax) else { return nil }
            let content = try StateEnvelope.open(bytes, name: .pairing, user: Self.device, backend: host.backend)
            return HeldSecret(
                try KeyWrap.unwrap(try PairingRecord(derBytes: content).wrapped, under: try wrapKey(), label: Self.label, context: []))
        } catch let error as StateError {
            throw Refusal(.storageFailed, "\(error)")
        } catch let error as DERError where error.newerVersion != nil {
            throw Self.newer(error.newerVersion ?? 0)
        } catch {
            return nil
        }
    }

    private static func newer(_ version: Int64) -> Refusal {
        Refusal(.stateUnreadable, "the reader was paired by a later version of Vauban (version \(version)); nothing was changed")
    }

    private func wrapKey() throws(WrapError) -> SecretBytes {
        do throws(BackendError) { return try host.backend.deviceKey(label: "vauban reader pairing wrap v1", context: []) } catch {
            throw WrapError()
        }
    }
}
