import VaubanOneTimeCodes
package import VaubanRefusal
package import VaubanSecretBytes

/// A secret that a page shows; overwritten when the page releases it.
package final class ItemSecret: Sendable {
    package let bytes: SecretBytes

    package init(_ bytes: consuming SecretBytes) { self.bytes = bytes }

    /// Whether the secret can be shown and copied as text.
    package var isText: Bool {
        bytes.withUnsafeBytes { bytes in !bytes.contains(0) && UTF8Validity.isValid(bytes) }
    }
}

/// The key of one-time codes, while a page shows its codes.
package final class ItemCodes: Sendable {
    private let address: OneTimeCodeAddress

    /// Throws `badParameter` if the secret is not a key for codes, and `unsupported` for a counter-based one: each of its codes is used up
    /// when it is shown.
    package init(_ secret: ItemSecret) throws(Refusal) {
        do {
            address = try secret.bytes.withUnsafeBytes { bytes throws(OneTimeCodeError) in try OneTimeCodeAddress(bytes) }
        } catch {
            throw Refusal(.badParameter, error.sentence)
        }
        guard case .time = address.key.movement else {
            throw Refusal(.unsupported, "This key gives each code once; to use the next one, run: vauban code get")
        }
    }

    /// Returns the code of a time in seconds since 1970.
    package func code(at time: Int64) -> ItemSecret? {
        address.key.step(at: time).map { ItemSecret(address.key.code(at: $0)) }
    }

    /// Returns how long the code of this time is valid, in seconds.
    package func secondsLeft(at time: Int64) -> Int64 { address.key.secondsLeft(at: time) ?? 0 }

    /// The seconds for which each code is valid.
    package var period: Int64 {
        if case .time(let period) = address.key.movement { period } else { 0 }
    }
}

/// Checks UTF-8 without a `String`, which would leave a copy of the secret on the heap.
enum UTF8Validity {
    static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var decoder = UTF8()
        var source = bytes.makeIterator()
        while true {
            switch decoder.decode(&source) {
            case .scalarValue: continue
            case .emptyInput: return true
            case .error: return false
            }
        }
    }
}
