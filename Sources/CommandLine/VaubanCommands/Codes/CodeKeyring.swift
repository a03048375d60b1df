import ArgumentParser
import Glibc
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanOneTimeCodes
import VaubanRefusal
import VaubanSecretBytes
import VaubanSecretText
import VaubanUserModel

/// The keys for one-time codes among the items: generic passwords named `otpauth:NAME`, whose value is the `otpauth://` address
/// (Specs/item-attributes.md).
struct CodeKeyring {
    let client: ServiceClient

    /// A one-time code and its validity.
    struct Code: ~Copyable {
        let text: SecretBytes
        /// The remaining validity in seconds; nil for a counter-based code, which is valid until the next one is used.
        let secondsLeft: Int64?
    }

    /// Returns the selection of the item that holds the key.
    static func selection(of selection: ItemSelection) throws -> ItemSelection {
        try selection.requireNoDesktopAttributes(for: "code")
        let (name, account) = selection.nameAndAccount
        guard let name, !name.isEmpty else {
            throw Refusal(.badParameter, "Name the one-time code like its password: vauban code get github/anna")
        }
        let service = name.hasPrefix(ImportPlan.codesPrefix) ? name : ImportPlan.codesPrefix + name
        // A name may begin with a hyphen.
        return try ItemSelection.parse(["--service=\(service)"] + (account.map { ["--account=\($0)"] } ?? []))
    }

    /// Stores a key under the selected name.
    func add(_ secret: SecretBox, for selection: ItemSelection, _ protection: ProtectionOptions) throws {
        try selection.requireNoDesktopAttributes(for: "code")
        let (name, account) = selection.nameAndAccount
        let code = try NewCode(secret.secret, name: name ?? "", account: account ?? "")
        var record = code.record
        (record.protection, record.accessControl) = try protection.applied(to: .whenUnlocked, nil)
        do {
            try client.add(record, secret: code.address())
        } catch let refusal as Refusal where refusal.reason == .duplicateItem {
            throw Refusal(
                .duplicateItem,
                "\(selection.shown) has a one-time code already; to replace it, delete it first: vauban delete \(record.name)")
        }
    }

    /// Returns the code for a time. Stores a counter's next value before it returns the code, so that no code is issued twice.
    ///
    /// - Parameter time: Seconds since 1970; nil for now. A counter-based key has no code for a time.
    func code(for selection: ItemSelection, at time: Int64?) throws -> Code {
        let record = try record(for: selection, verb: "code get")
        let reason = "get the one-time code of \(selection.shown)"
        let permit = try CodeCounter.permit(record, reason: reason, client)
        defer { permit?.end() }
        let address = try Self.parsed(try secret(of: record, reason: reason, permit).secret)
        guard case .counter(let first) = address.key.movement else {
            let time = time ?? Int64(Glibc.time(nil))
            guard let step = address.key.step(at: time) else { throw Refusal(.internalError) }
            return Code(text: address.key.code(at: step), secondsLeft: address.key.secondsLeft(at: time))
        }
        guard time == nil else {
            throw Refusal(.badParameter, "\(selection.shown) counts its codes, so it has none for a time; leave out --at for the next code")
        }
        return Code(text: address.key.code(at: try CodeCounter.take(of: record, first: first, permit, client)), secondsLeft: nil)
    }

    /// Returns whether the stored key of a name has the codes of an address; nil if reading it requires the user's approval.
    func hasSameCodes(as address: SecretBox, under selection: ItemSelection) throws -> Bool? {
        let record = try record(for: selection, verb: "code import")
        guard !record.needsApproval else { return nil }
        let stored = try Self.parsed(try secret(of: record, reason: "compare the one-time code of \(selection.shown)").secret)
        return stored.key.isSame(as: try Self.parsed(address.secret).key)
    }

    /// Returns the name and account for an address: the name is its issuer, or its account if there is no issuer.
    ///
    /// - Throws: `Refusal` with `badParameter` if the secret is not such an address.
    static func name(of address: SecretBox) throws -> (name: String, account: String) {
        let parsed = try parsed(address.secret)
        guard !parsed.issuer.isEmpty || !parsed.account.isEmpty else {
            throw Refusal(.badParameter, "An address has neither issuer nor account; add it by name: vauban code add NAME --picture FILE")
        }
        return parsed.issuer.isEmpty ? (parsed.account, "") : (parsed.issuer, parsed.account)
    }

    /// Returns every key that can be described here.
    func records() throws -> [ItemRecord] {
        try client.matches(ItemSelection.parse([])).filter {
            $0.kind == .genericPassword && $0.text(.service).hasPrefix(ImportPlan.codesPrefix)
        }
    }

    /// Returns a record under the name that the commands take, which is that of its password.
    static func namedAsItsPassword(_ record: ItemRecord) -> ItemRecord {
        var shown = record
        shown.attributes[.service] = .text(String(record.text(.service).dropFirst(ImportPlan.codesPrefix.count)))
        return shown
    }

    /// Returns the address for another device, after the user approved that.
    ///
    /// - Throws: `Refusal` with `unsupported` for a counter-based key, since two devices would give the same codes.
    func address(for selection: ItemSelection) throws -> SecretBox {
        let record = try record(for: selection, verb: "code show")
        let reason = "show the key for the one-time codes of \(selection.shown)"
        // An item that prompts for each use prompts for this one too.
        if !record.needsApproval {
            try client.withUnlock {
                try client.withPrompts { try client.authentication.evaluate(.biometryOrPasscode, reason: reason, waiting: $0) }
            }
        }
        let address = try secret(of: record, reason: reason)
        guard case .time = try Self.parsed(address.secret).key.movement else {
            throw Refusal(.unsupported, "\(selection.shown) counts its codes, so another device would give the same ones again")
        }
        return address
    }

    private func record(for selection: ItemSelection, verb: String) throws -> ItemRecord {
        do {
            return try client.one(try Self.selection(of: selection), for: verb)
        } catch let refusal as Refusal where refusal.reason == .itemNotFound {
            throw Refusal(.itemNotFound, "\(selection.shown) has no one-time code; to add one: vauban code add \(selection.shown)")
        }
    }

    private func secret(of record: ItemRecord, reason: String, _ permit: Authorization? = nil) throws -> SecretBox {
        guard let secret = try client.read(record, reason: reason, permit).takeSecret() else {
            throw Refusal(.itemNotFound, "\(record.name) has no key; delete the item and add its code again")
        }
        return SecretBox(secret)
    }

    /// Returns an address unchanged, or one made from a bare Base32 key.
    static func address(_ secret: SecretBox, name: String, account: String) throws -> SecretBox {
        let made: SecretBox
        let trimmed = CodeAddress.withoutSpaces(secret)
        switch CodeAddress(trimmed, title: name, account: account) {
        case .whole(let box), .made(let box): made = box
        case .none where CodeAddress.isMigration(trimmed):
            throw Refusal(.badParameter, "This is the export of an authenticator; save its QR code as a picture: vauban code import FILE")
        case .none: throw Refusal(.badParameter, OneTimeCodeError.notAnAddress.sentence)
        }
        _ = try parsed(made.secret)
        return made
    }

    private static func parsed(_ secret: borrowing SecretBytes) throws -> OneTimeCodeAddress {
        do {
            return try secret.withUnsafeBytes { bytes throws(OneTimeCodeError) in try OneTimeCodeAddress(bytes) }
        } catch {
            throw Refusal(.badParameter, error.sentence)
        }
    }
}
