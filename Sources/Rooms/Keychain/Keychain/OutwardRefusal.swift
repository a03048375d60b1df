// The only place where internal errors are mapped to the refusals that callers receive.

internal import EnclaveWire
package import KeychainStore
package import VaubanRefusal

extension Refusal {
    package init(_ fault: StorageError) {
        switch fault {
        case .full: self.init(.storageFull)
        case .failed(let text): self.init(.storageFailed, text)
        case .damaged(let text): self.init(.stateUnreadable, text)
        case .newer(let text): self.init(.stateUnreadable, text)
        case .noCopy: self.init(.itemNotFound, "there is no verified copy of the keychain database")
        case .busy: self.init(.unavailable, "too many keychains are in use; try again")
        case .notDamaged: self.init(.notAllowedHere, "the keychain database can be read, so it is not replaced")
        }
    }

    /// The refusal without details that are intended for rooms only.
    var outward: Refusal {
        switch reason {
        case .keyDestroyed, .keyUnknown, .rowDamaged: Refusal(.itemNotFound)
        case .keysChanged: Refusal(.unavailable, "The keys have just changed; try again")
        default: self
        }
    }
}
