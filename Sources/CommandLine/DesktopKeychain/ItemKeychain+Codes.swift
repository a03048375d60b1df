import VaubanCommands
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanKeychainWire
package import VaubanLinuxHost
import VaubanRefusal

extension ItemKeychain {
    /// The source of the key for a password's one-time codes.
    package enum CodeKey: Sendable {
        /// An `otpauth://` address, or the key itself in Base32.
        case typed(ItemSecret)
        /// The QR code on the screen, of which the desktop takes a picture; the desktop may ask the user first.
        case onScreen
    }

    /// Adds the key for the one-time codes of a password; returns its row, and a notice about the picture of the screen. Once cancelled, it
    /// adds nothing.
    package func addCode(_ key: CodeKey, to page: ItemPage, cancellation: CallCancellation) throws -> (row: ItemRow, note: String?) {
        var note: String?
        let secret =
            switch key {
            case .typed(let secret): secret
            case .onScreen: ItemSecret(try NewCode.addressOnScreen(cancellation: cancellation) { note = $0 })
            }
        let login = page.login
        let code = try NewCode(secret.bytes, name: login.name, account: login.account)
        let added: ReceivedItem?
        try cancellation.check()
        do throws(Refusal) {
            added = try keychain.add(code.record, secret: code.address(), returns: [.reference], cancellation: cancellation)
        } catch {
            throw Self.naming(error, "“\(page.row.title)” has a one-time code already")
        }
        guard let reference = added?.reference else { throw Refusal(.internalError, "the keychain did not name the new item") }
        return (ItemRow(code.record, reference: reference), note)
    }
}
