import ArgumentParser
import VaubanKeychainClient
import VaubanRefusal
import VaubanSecretText

/// Adds the one-time codes of pictures, each under its own name, and reports the outcome for each.
struct CodeImportRun {
    let keyring: CodeKeyring
    let protection: ProtectionOptions

    enum Outcome: Hashable {
        case added(String)
        case exists(String)
        /// The name belongs to another key.
        case taken(String)
        /// The name exists, and was not compared, since that requires the user's approval.
        case notCompared(String)
        case refused(String, reason: String)

        /// Whether the key is in the keychain.
        var isStored: Bool {
            switch self {
            case .added, .exists: true
            case .taken, .notCompared, .refused: false
            }
        }

        var line: String {
            switch self {
            case .added(let name): "added\t\(name)"
            case .exists(let name): "exists\t\(name)"
            case .taken(let name):
                "not added\t\(name): it has another key; to add this one, choose a name: vauban code add NAME --picture FILE"
            case .notCompared(let name):
                "not added\t\(name): it exists, and comparing the keys requires your approval: vauban code show \(name)"
            case .refused(let name, let reason): "not added\t\(name): \(reason)"
            }
        }
    }

    /// Stores an address under its name, unless the name is taken.
    ///
    /// - Parameter number: The number of the code in the picture, for one without a name.
    func store(_ address: SecretBox, number: Int) throws -> Outcome {
        let selection: ItemSelection
        do {
            let (name, account) = try CodeKeyring.name(of: address)
            // A name may begin with a hyphen.
            selection = try ItemSelection.parse(["--service=\(name)", "--account=\(account)"])
        } catch let refusal as Refusal where refusal.reason == .badParameter {
            return .refused("code \(number)", reason: refusal.message)
        }
        do {
            try keyring.add(address, for: selection, protection)
            return .added(selection.shown)
        } catch let refusal as Refusal where refusal.reason == .duplicateItem {
            return try compare(address, with: selection)
        }
    }

    private func compare(_ address: SecretBox, with selection: ItemSelection) throws -> Outcome {
        do {
            return switch try keyring.hasSameCodes(as: address, under: selection) {
            case true?: .exists(selection.shown)
            case false?: .taken(selection.shown)
            case nil: .notCompared(selection.shown)
            }
        } catch let refusal as Refusal where [.badParameter, .itemNotFound].contains(refusal.reason) {
            // The item of this name is not a key for codes, or has been deleted meanwhile.
            return .refused(selection.shown, reason: refusal.message)
        }
    }
}
