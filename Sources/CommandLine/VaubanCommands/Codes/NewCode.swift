import VaubanAccessPolicy
package import VaubanKeychainModel
package import VaubanLinuxHost
import VaubanRefusal
package import VaubanSecretBytes
import VaubanSecretText

/// A key of one-time codes that is not stored yet: its item, and the address that becomes the item's value.
package struct NewCode {
    package var record: ItemRecord
    private let box: SecretBox

    /// Creates the item from an `otpauth://` address, or from the bare key in Base32. Name and account are those of its password.
    ///
    /// - Throws: `Refusal` with `badParameter` for anything else.
    package init(_ key: borrowing SecretBytes, name: String, account: String) throws {
        box = try CodeKeyring.address(SecretBox(key.duplicate()), name: name, account: account)
        let login = ItemRecord(
            kind: .genericPassword,
            attributes: ItemAttributes([
                .account: .text(account), .label: .text([name, account].filter { !$0.isEmpty }.joined(separator: "/")),
            ]))
        record = ImportPlan.attachedItem(of: login, named: ImportPlan.codesPrefix + name, ImportPlan.codesDescription)
        record.attributes[.accessGroup] = .text(AccessGroup.commandLine)
        CodeCounter.start(box.secret, in: &record)
    }

    package func address() -> SecretBytes { box.secret.duplicate() }

    /// Returns the address in the one QR code that is on the screen. `tell` is called if the picture cannot be removed afterwards.
    package static func addressOnScreen(cancellation: CallCancellation? = nil, warn: (String) -> Void) throws -> SecretBytes {
        let found = try MigrationPicture(CodePicture.textsOnScreen(cancellation: cancellation, warn: warn))
        return try found.only { "the screen shows \($0) codes; show one alone, and try again" }.secret.duplicate()
    }
}
