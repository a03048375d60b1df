import ArgumentParser
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

/// The options and steps that `set`, `add` and `update` share.
struct ItemKeeping: ParsableArguments {
    @OptionGroup var selection: ItemSelection
    @OptionGroup var surplus: ExtraArguments
    @OptionGroup var protection: ProtectionOptions
    @OptionGroup var sync: SyncChoice
    @OptionGroup var generation: GenerationOptions
    @OptionGroup var source: SecretSource
    @OptionGroup var user: UserOptions

    func requireName() throws {
        if (selection.nameAndAccount.name ?? "").isEmpty {
            throw ValidationError("No item given: name it as service/account, or with --service, --server or --url")
        }
    }

    /// Rejects a new item that lists could not show. An existing one, which a program may have stored, can still be changed.
    func requireVisibleName() throws {
        guard let name = selection.nameAndAccount.name, !name.isEmpty, name.allSatisfy(\.isWhitespace) else { return }
        throw ValidationError("The name of an item cannot consist of spaces only; name it as service/account")
    }

    enum Verb {
        /// Adds the item, or changes the existing one; `replaces` skips the confirmation.
        case set(replaces: Bool)
        case add, update

        var isSet: Bool { if case .set = self { true } else { false } }

        var name: String {
            switch self {
            case .set: "set"
            case .add: "add"
            case .update: "update"
            }
        }
    }

    func run(_ verb: Verb) throws {
        let client = try ServiceClient(user)
        // Search first: this unlocks a locked keychain before the user types a secret in vain.
        let existing = try existing(client, verb)
        if let existing, case .set(replaces: false) = verb { try confirmReplacing(existing, client) }
        if existing == nil { try prepareNew(client) }
        let plan = generation.generate ? try generation.plan(for: selection.wantedServer) : nil
        let secret: SecretBytes? = try plan.map { try $0.make() } ?? source.read(client.user, what: fresh.name)
        try keep(secret, found: existing, client: client, verb: verb)
        if let plan { say("Stored without showing it: \(plan.summary).") }
    }

    /// Refuses an address as the name of a new item, and unlocks a locked keychain before the user types a secret in vain.
    private func prepareNew(_ client: ServiceClient) throws {
        if let word = selection.word ?? selection.server, word.hasPrefix("https://") || word.hasPrefix("http://") {
            throw Refusal(.badParameter, "To store a website's password by its address: vauban set --url https://anna@example.com/")
        }
        if protection.when == nil, client.user.terminal != nil { try client.openNow() }
    }

    /// Rejects combinations of options that are invalid for every verb.
    func validate() throws {
        if generation.generate, !source.isDefault {
            throw ValidationError("--generate cannot be combined with --secret-fd, --keep-newline, --hex or --empty")
        }
        try sync.validate(beside: protection)
    }

    /// Rejects a secret that was given as an argument, without repeating it.
    func requireNoSecretArgument(_ verb: Verb) throws {
        guard !surplus.words.isEmpty else { return }
        let command = "vauban \(verb.name) \(selection.quoted)"
        throw ValidationError(
            """
            A secret is never an argument, since other programs and your shell's history can see it. This one was visible: choose \
            another. To be asked: \(command). From a pipe: printf %s "$secret" | \(command)
            """)
    }

    private func keep(_ secret: borrowing SecretBytes?, found: ItemRecord?, client: ServiceClient, verb: Verb) throws {
        var existing = found
        for _ in 0..<Self.roundsMax {
            do {
                if let existing { return try update(existing, secret: secret, client: client, verb: verb) }
                try add(secret, client: client, verb: verb)
                return try showFirstItemNote(client)
            } catch let refusal as Refusal where verb.isSet && [.duplicateItem, .itemNotFound].contains(refusal.reason) {
                // Another program has added or removed the item in the meantime; set it anyway.
                existing = try self.existing(client, verb)
                if let existing, case .set(replaces: false) = verb { try confirmReplacing(existing, client) }
            }
        }
        throw Refusal(.unavailable, "Other programs keep changing the item; try again")
    }

    private static let roundsMax = 16

    /// Returns the item with exactly this name and account; one with another account is a different item.
    private func existing(_ client: ServiceClient, _ verb: Verb) throws -> ItemRecord? {
        let account = selection.nameAndAccount.account ?? ""
        let same = try client.matches(selection).filter { $0.text(.account) == account }
        switch verb {
        case .add where !same.isEmpty:
            throw Refusal(.duplicateItem, "\(fresh.name) already exists; to replace its secret: vauban update \(selection.quoted)")
        case .update where same.isEmpty: throw Refusal.noItem(fresh.name)
        // Only desktop programs give items attributes.
        case .set where same.isEmpty && !selection.desktopAttributes.isEmpty: throw Refusal.noItem(fresh.name)
        case .set, .add, .update: break
        }
        guard same.count <= 1 else { throw SeveralMatches(verb: verb.name, records: same) }
        return same.first
    }

    /// Shows which item would get a new secret and asks for confirmation. Without a terminal, throws an error that names the alternative.
    private func confirmReplacing(_ record: ItemRecord, _ client: ServiceClient) throws {
        guard let terminal = client.user.terminal else {
            throw Refusal(
                .duplicateItem,
                "\(record.name) already exists; to replace its secret: vauban set \(selection.quoted) --replace")
        }
        terminal.write("\(record.summary)\n")
        guard terminal.readWord("Replace its secret? Type yes to confirm: ") == "yes" else {
            throw Refusal(.cancelled, "the item was not changed")
        }
    }

    private func update(_ record: ItemRecord, secret: borrowing SecretBytes?, client: ServiceClient, verb: Verb) throws {
        var changes = ItemChanges(attributes: ItemAttributes(), hasData: true)
        try protection.apply(to: record, &changes)
        try sync.apply(to: &changes, of: record)
        switch secret {
        case .some(let secret):
            try CodeCounter.checkIsLocal(ItemRecord(kind: record.kind, attributes: record.attributes.merging(changes.attributes)), secret)
        case .none: break
        }
        try client.update(record, changes, secret: secret, reason: "\(verb.name) \(selection.shown)")
    }

    private func add(_ secret: borrowing SecretBytes?, client: ServiceClient, verb: Verb) throws {
        var record = fresh
        (record.protection, record.accessControl) = try protection.applied(to: .whenUnlocked, nil)
        try sync.apply(to: &record)
        do {
            try client.add(record, secret: secret)
        } catch let refusal as Refusal where refusal.reason == .duplicateItem {
            // A concurrent `set` added the same item first.
            guard case .set(replaces: true) = verb, let quicker = try existing(client, verb) else {
                throw Refusal(
                    .duplicateItem, "\(fresh.name) already exists: another command added it at the same time; nothing was changed")
            }
            try update(quicker, secret: secret, client: client, verb: verb)
        }
    }

    /// The record of the new item. It contains every attribute of the item's primary key, so that the item can be found again.
    private var fresh: ItemRecord {
        let kind = selection.kinds[0]
        let (name, account) = selection.nameAndAccount
        var attributes = selection.attributes(of: kind)
        attributes[.account] = .text(account ?? "")
        attributes[.accessGroup] = .text(AccessGroup.commandLine)
        if kind == .internetPassword {
            attributes[.port] = .number(selection.wantedPort ?? 0)
            attributes[.path] = .text(selection.wantedPath ?? "")
        }
        let label = kind == .internetPassword || (account ?? "").isEmpty ? name : "\(name ?? "")/\(account ?? "")"
        attributes[.label] = .text(label ?? "")
        return ItemRecord(kind: kind, attributes: attributes)
    }

    /// Prints a notice once, with the first item: how little a keychain protects whose key is stored beside it, and which programs can read
    /// items added by hand.
    private func showFirstItemNote(_ client: ServiceClient) throws {
        let hasPasscode = try client.authentication.status().device.passcodeIsSet
        let isOpenToAll = client.service.mode == .system && protection.require == nil && protection.when == nil
        guard !hasPasscode || isOpenToAll, try countOfItems(client) <= 1 else { return }
        if !hasPasscode { say("Note: \(StatusText.noPasscode) Run: vauban passcode set") }
        if isOpenToAll {
            say(
                "Note: any program that you run can read this through vauban while unlocked. To approve each use: --require presence"
            )
        }
    }

    private func countOfItems(_ client: ServiceClient) throws -> Int {
        var count = 0
        for kind in ItemKind.allCases {
            var query = ItemQuery(kind: kind)
            query.limit = .count(2)
            query.returns.insert(.attributes)
            query.authenticationUI = .skip
            count += (try? client.keychain.copyMatching(query).count) ?? 0
        }
        return count
    }
}
