// Across the line between what is one program's and what is another's: only where the person has said yes.

internal import EnclaveWire
internal import KeychainStore
internal import VaubanAccessPolicy
internal import VaubanKeychainModel

extension RequestInProgress {
    /// Goes through the rows that the terms mean and that are not the caller's own: those that the person has let it read,
    /// and, for a caller without an identity of its own, the first that the person lets it use now. Answers whether one
    /// stayed out of its sight.
    func forEachForeignRow(
        of terms: SearchTerms, _ purpose: Consent.Purpose, mayAsk: Bool, reason: String?, _ body: (OpenedRow) throws -> Bool
    ) throws -> Bool {
        let rights = try rights()
        guard !rights.ownsEverything else { return false }
        let granted = purpose == .readItem ? try itemsReadable(by: rights.key) : []
        guard rights.asks || !granted.isEmpty else { return false }
        var isHidden = false
        var wasAsked = false
        try forEachRow(of: try selection(terms, of: []), batch: KeychainLimits.batchRowsMax) { row in
            let isGranted = granted.contains(row.item)
            // What it may not ask for is not even opened.
            guard isGranted || rights.asks, let opened = try open(row), !rights.owns(opened.record.accessGroup),
                terms.match(opened.record.attributes)
            else { return true }
            if !isGranted {
                guard mayAsk, !wasAsked, opened.record.accessGroup != AccessGroup.token else {
                    isHidden = true
                    return true
                }
                wasAsked = true
                try letIn(opened, purpose, reason, rights)
            }
            return try body(opened)
        }
        return isHidden
    }

    /// A caller that would have been asked about is never told that there is nothing.
    func notFound(_ isHidden: Bool, _ ui: AuthenticationUI) -> Refusal {
        guard isHidden, ui == .allow || ui == .fail else { return Refusal(.itemNotFound) }
        return Refusal(.interactionNotAllowed, "another program keeps the item, and letting this one use it takes a question about one item")
    }

    /// Returns if the person lets the caller use this item.
    private func letIn(_ opened: OpenedRow, _ purpose: Consent.Purpose, _ reason: String?, _ rights: CallerRights) throws {
        let remembered = rights.key.map { RememberedConsent(key: $0, item: opened.binding.item) }
        if purpose == .readItem, let remembered, parts.lent.remembers(remembered, of: person) { return }
        // What changes or removes an item is for once; so is what an unnamed caller reads.
        let offered: Consent.Choices = purpose == .readItem && remembered != nil ? [.once, .untilLock, .always] : .once
        let choice = try ask(
            Consent(
                purpose, offered: offered, item: opened.record.shownName, owner: opened.record.accessGroup,
                program: offered == .once ? nil : rights.key), reason)
        guard let remembered else { return }
        switch choice {
        case .once: break
        case .untilLock: parts.lent.remember(remembered, of: person)
        case .always: try keep(.reads(opened.binding.item), for: remembered.key)
        }
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
