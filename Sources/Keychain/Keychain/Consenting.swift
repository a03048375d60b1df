// Across the line between what is one program's and what is another's: only where the person has said yes.

internal import EnclaveWire
internal import KeychainStore
internal import VaubanAccessPolicy
internal import VaubanKeychainModel

extension RequestInProgress {
    /// Goes through the rows that the terms mean and that are not the caller's own: those that the person has let it read,
    /// and, for a caller without an identity of its own, the first that the person lets it use now. Answers whether one
    /// stayed out of its sight, as far as that `matters`.
    func forEachForeignRow(
        of terms: SearchTerms, _ purpose: Consent.Purpose, mayAsk: Bool, matters: Bool = true, reason: String?, _ body: (OpenedRow) throws -> Bool
    ) throws -> Bool {
        let rights = try rights()
        guard !rights.ownsEverything else { return false }
        let granted = purpose == .readItem ? try itemsReadable(by: rights.key) : []
        let looksFurther = rights.asks && (mayAsk || matters)
        guard looksFurther || !granted.isEmpty else { return false }
        var isHidden = false
        try forEachRow(of: try selection(terms, of: []), batch: KeychainLimits.batchRowsMax) { row in
            let isGranted = granted.contains(row.item)
            // What it may not ask for is not even opened, and one that is hidden says as much as many.
            guard isGranted || looksFurther && !isHidden else { return !granted.isEmpty }
            do {
                guard let opened = try open(row), !rights.owns(opened.record.accessGroup), terms.match(opened.record.attributes) else { return true }
                if !isGranted {
                    guard mayAsk, opened.record.accessGroup != AccessGroup.token, try letIn(opened, purpose, reason, rights) else {
                        isHidden = true
                        return true
                    }
                }
                return try body(opened)
            } catch let refusal as Refusal where refusal.reason == .locked && !isGranted && !mayAsk {
                // That another owner's class is closed must not end a search for what the caller has.
                isHidden = true
                return true
            }
        }
        return isHidden
    }

    /// A caller that would have been asked about is never told that there is nothing.
    func notFound(_ isHidden: Bool, _ ui: AuthenticationUI) -> Refusal {
        guard isHidden, ui == .allow || ui == .fail else { return Refusal(.itemNotFound) }
        return Refusal(.interactionNotAllowed, "another program keeps the item, and letting this one use it takes a question about one item")
    }

    /// Whether the person lets the caller use this item. One request asks about one item: what it was let use stays so when
    /// the row is looked at again, and no other is asked about.
    private func letIn(_ opened: OpenedRow, _ purpose: Consent.Purpose, _ reason: String?, _ rights: CallerRights) throws -> Bool {
        let remembered = rights.key.map { RememberedConsent(key: $0, item: opened.binding.item) }
        if purpose == .readItem, let remembered, parts.lent.remembers(remembered, of: person) { return true }
        // What changes or removes an item is for once; so is what an unnamed caller reads.
        let offered: Consent.Choices = purpose == .readItem && remembered != nil ? [.once, .untilLock, .always] : .once
        let consent = Consent(
            purpose, offered: offered, item: opened.record.shownName, owner: opened.record.accessGroup, program: offered == .once ? nil : rights.key)
        if let agreed { return agreed == AgreedItem(item: opened.binding.item, consent: consent) }
        let choice = try ask(consent, reason)
        agreed = AgreedItem(item: opened.binding.item, consent: consent)
        guard let remembered else { return true }
        switch choice {
        case .once: break
        case .untilLock: parts.lent.remember(remembered, of: person)
        case .always: try keep(.reads(opened.binding.item), for: remembered.key)
        }
        return true
    }

    /// Asks the person. Where nobody can be asked, that is what the caller hears, never that there is nothing.
    @discardableResult
    func ask(_ consent: Consent, _ reason: String? = nil) throws -> ConsentChoice {
        do {
            return try enclave.consent(consent, reason: reason)
        } catch let refusal as Refusal where refusal.reason == .passcodeNotSet {
            throw Refusal(.interactionNotAllowed, "nobody can say yes to that while no passcode is set; run: vauban passcode set")
        }
    }
}

/// The one item of another owner that the person let a request use, as it was shown to them.
struct AgreedItem: Hashable {
    let item: [UInt8]
    let consent: Consent
}

extension ItemRecord {
    /// How a person knows the item: by its label or by what it is called.
    var shownName: String {
        func text(_ name: AttributeName) -> String? {
            switch attributes[name] {
            case .text(let text): text.isEmpty ? nil : text
            case .data(let bytes): String(validating: bytes, as: UTF8.self)
            default: nil
            }
        }
        let name = [text(kind == .internetPassword ? .server : .service), text(.account)].compactMap(\.self).joined(separator: "/")
        return name.isEmpty ? text(.label) ?? "without a name" : name
    }
}
