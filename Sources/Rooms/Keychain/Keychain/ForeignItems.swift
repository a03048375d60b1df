// Access to other owners' items: only with the user's consent, and in a way that reveals nothing about what exists without it
// (Specs/access-groups.md).

internal import EnclaveWire
internal import KeychainStore
internal import VaubanAccessPolicy
internal import VaubanKeychainModel
internal import VaubanLinuxHost
internal import VaubanPlainText
internal import VaubanRefusal
internal import VaubanUserModel

/// Why another owner's item is needed, and whether the user may be prompted for it.
struct ConsentRequest {
    let purpose: Consent.Purpose
    let ui: AuthenticationUI
    /// A prompt is about one item.
    var isForOne = true
    let reason: String?
    /// The changes to the item. The prompt shows them if they rename it.
    var changes = ItemAttributes()

    var mayPrompt: Bool { ui == .allow && isForOne }
    /// Whether the caller learns that a prompt could not be shown.
    var revealsMissingPrompt: Bool { ui == .allow || ui == .fail }
}

extension RequestInProgress {
    /// Calls `body` with each row that matches the terms, belongs to another owner and may be used with the user's consent, until `body`
    /// returns false. Returns whether a prompt was left out, which does not depend on what another owner stores.
    func forEachForeignRow(of terms: SearchTerms, _ request: ConsentRequest, _ body: (OpenedRow) throws -> Bool) throws -> Bool {
        let rights = try rights()
        let owner = terms.namedGroup
        guard !rights.ownsEverything, owner.map({ !rights.owns($0) }) ?? true else { return false }
        var permitted: Set<[UInt8]> = []
        var answered: Set<[UInt8]> = []
        if request.purpose == .readItem, let key = rights.key {
            permitted = try itemsReadable(by: key)
            answered = try itemsAnswered(for: key)
        }
        if owner != nil { permitted.formUnion(answered) }
        guard try forEachRow(of: terms, among: permitted, body) else { return false }
        guard let owner else {
            guard rights.asks else { return false }
            return try searchUnsignedItems(of: terms, without: permitted, answered: answered, request: request, body: body)
        }
        if owner.isSameBytes(as: AccessGroup.unsigned), rights.asks {
            return try searchUnsignedItems(of: terms, without: permitted, answered: answered, request: request, body: body)
        }
        guard rights.asks else { return try searchOfferedItems(of: owner, terms: terms, without: permitted, request: request, body: body) }
        return try promptBeforeSearching(for: terms, of: owner, without: permitted, request, body)
    }

    /// Returns the refusal for an empty result. A caller that would have needed a prompt learns that, and never that nothing exists.
    func notFound(leftOut isLeftOut: Bool, ui: AuthenticationUI) -> Refusal {
        guard isLeftOut, ui == .allow || ui == .fail else { return Refusal(.itemNotFound) }
        return Refusal(
            .interactionNotAllowed,
            "whether another program has this item can only be answered after a prompt about one item; name its service and account")
    }

    /// Prompts first, in the caller's own words, and searches afterwards, so that the prompt, its timing and a hang-up reveal nothing. A
    /// caller without an identity can ask about every owner.
    private func promptBeforeSearching(
        for terms: SearchTerms, of owner: String, without used: Set<[UInt8]>, _ request: ConsentRequest, _ body: (OpenedRow) throws -> Bool
    ) throws -> Bool {
        guard request.mayPrompt, let name = terms.shownName(as: request.changes) else { return true }
        let consent = try consent(request.purpose, item: name, owner: owner)
        guard let choice = try promptOnce(to: consent, about: .words(terms), of: terms.kind, request.reason) else { return true }
        var isFound = false
        try forEachRow(of: try selection(terms, of: []), batch: KeychainLimits.batchRowsMax) { row in
            guard !used.contains(row.item), let opened = try open(row), terms.match(opened.record.attributes), useConsent(on: row.item)
            else {
                return true
            }
            isFound = true
            try remember(choice, of: row.item, for: request.purpose)
            return try body(opened)
        }
        if !isFound { caller.consents.unused.withLock { $0 = PendingConsent(consent: consent, choice: choice, kind: terms.kind) } }
        return false
    }

    /// Unsigned items are no secret of any program: a caller without an identity adds items there and learns of each name that is taken. So
    /// this searches first, and the prompt names what was found.
    private func searchUnsignedItems(
        of terms: SearchTerms, without used: Set<[UInt8]>, answered: Set<[UInt8]>, request: ConsentRequest,
        body: (OpenedRow) throws -> Bool
    ) throws -> Bool {
        guard request.revealsMissingPrompt || !answered.isEmpty, let terms = terms.within(AccessGroup.unsigned) else { return false }
        var isLeftOut = false
        try forEachRow(of: try selection(terms, of: []), batch: KeychainLimits.batchRowsMax) { row in
            guard !used.contains(row.item) else { return true }
            do {
                guard let opened = try open(row), terms.match(opened.record.attributes) else { return true }
                guard try answered.contains(row.item) || promptToUse(opened, request) else {
                    isLeftOut = true
                    return true
                }
                return try body(opened)
            } catch let refusal as Refusal where refusal.reason == .locked && !request.mayPrompt {
                // A locked class must not end a search for what the caller owns.
                isLeftOut = true
                return true
            }
        }
        return isLeftOut
    }

    /// Searches the items that the owner lets this program ask for. The program may know of an offer that was made to it.
    private func searchOfferedItems(
        of owner: String, terms: SearchTerms, without used: Set<[UInt8]>, request: ConsentRequest, body: (OpenedRow) throws -> Bool
    ) throws -> Bool {
        guard request.purpose == .readItem, let key = try rights().key else { return false }
        var isLeftOut = false
        do {
            _ = try forEachRow(of: terms, among: try itemsOffered(to: key, by: owner).subtracting(used)) { opened in
                guard try promptToUse(opened, request) else {
                    isLeftOut = true
                    return true
                }
                return try body(opened)
            }
        } catch let refusal as Refusal where refusal.reason == .locked && !request.mayPrompt {
            return true
        }
        return isLeftOut
    }

    /// Calls `body` with the rows of these items that match the terms. Rows are looked up by item, so the time depends on nothing else in
    /// the database. Returns false when `body` ended the search.
    private func forEachRow(of terms: SearchTerms, among items: Set<[UInt8]>, _ body: (OpenedRow) throws -> Bool) throws -> Bool {
        guard let first = items.first else { return true }
        var single = terms
        if let reference = terms.reference {
            guard items.contains(reference) else { return true }
        } else {
            single.reference = first
        }
        var selection = try selection(single, of: [])
        for item in items where terms.reference.map({ $0 == item }) ?? true {
            selection.item = item
            var shouldContinue = true
            try forEachRow(of: selection, batch: 1) { row in
                guard let opened = try open(row), terms.match(opened.record.attributes) else { return true }
                shouldContinue = try body(opened)
                return shouldContinue
            }
            guard shouldContinue else { return false }
        }
        return true
    }

    // MARK: Prompting

    /// Prompts the user for an item that was found. Returns whether the caller may use it.
    private func promptToUse(_ opened: OpenedRow, _ request: ConsentRequest) throws -> Bool {
        guard request.mayPrompt else { return false }
        let item = opened.record.shownName(as: request.changes)
        let consent = try consent(request.purpose, item: item, owner: opened.record.accessGroup)
        guard let choice = try promptOnce(to: consent, about: .item(opened), of: opened.record.kind, request.reason),
            useConsent(on: opened.row.item)
        else {
            return false
        }
        try remember(choice, of: opened.row.item, for: request.purpose)
        return true
    }

    /// Returns a consent. A consent to change or delete an item, or to read it without a name, holds once.
    private func consent(_ purpose: Consent.Purpose, item: String, owner: String) throws -> Consent {
        let key = purpose == .readItem ? try rights().key : nil
        return Consent(purpose, offered: key == nil ? .once : [.once, .untilLock, .always], item: item, owner: owner, program: key)
    }

    private func remember(_ choice: ConsentChoice, of item: [UInt8], for purpose: Consent.Purpose) throws {
        guard purpose == .readItem, let key = try rights().key else { return }
        switch choice {
        // These consents offer no accounts.
        case .once, .account: break
        case .untilLock: services.leasedKeys.remember(RememberedConsent(key: Array(key.utf8), item: item), of: user)
        case .always: try keep(.answered(item), for: key)
        }
    }

    /// Returns the user's answer to a prompt, which is shown once in a request; nil if the request has prompted for something else. A
    /// consent that found nothing holds for the connection's next request about another class in the same words.
    func promptOnce(
        to consent: Consent, about subject: PromptSubject = .other, of kind: ItemKind, _ reason: String? = nil
    ) throws -> ConsentChoice? {
        if let consentAnswer { return consentAnswer.consent == consent ? consentAnswer.choice : nil }
        let unused = caller.consents.unused.withLock { unused in
            defer { unused = nil }
            return unused
        }
        var choice: ConsentChoice?
        if let unused, unused.consent == consent, unused.kind != kind { choice = unused.choice }
        let answer = try choice ?? ask(consent, about: subject, reason)
        consentAnswer = ConsentAnswer(consent: consent, choice: answer)
        return answer
    }

    /// Uses the consent of this request for one item, which stays the same when its row is read again.
    func useConsent(on item: [UInt8]) -> Bool {
        guard consentAnswer?.item == nil || consentAnswer?.item == item else { return false }
        consentAnswer?.item = item
        return true
    }

    /// Prompts the user. When no prompt can be shown, the refusal says so, and never that nothing exists.
    @discardableResult
    func ask(_ consent: Consent, about subject: PromptSubject = .other, _ reason: String? = nil) throws -> ConsentChoice {
        do {
            let choice = try enclave.consent(consent, reason: reason)
            wasPrompted = true
            return choice
        } catch {
            note(error, of: consent, about: subject)
            guard (error as? Refusal)?.reason == .passcodeNotSet else { throw error }
            throw Refusal(.interactionNotAllowed, "this needs your consent, which takes a passcode; set one with: vauban passcode set")
        }
    }
}

/// The one prompt of a request, the user's choice, and the item that it was used for.
struct ConsentAnswer {
    let consent: Consent
    let choice: ConsentChoice
    var item: [UInt8]?
}

/// A consent to use an item that does not exist in one class of items.
struct PendingConsent: Sendable {
    let consent: Consent
    let choice: ConsentChoice
    let kind: ItemKind
}

extension SearchTerms {
    /// Returns the same terms limited to one group; nil if they name another.
    func within(_ group: String) -> SearchTerms? {
        guard namedGroup.map({ $0.isSameBytes(as: group) }) ?? true else { return nil }
        var within = attributes
        within[.accessGroup] = .text(group)
        return SearchTerms(kind: kind, attributes: within, protection: protection, reference: reference)
    }

    /// The requested name in the caller's own words; nil if it means nothing to a user.
    var shownName: String? {
        let (name, account) = attributes.shownParts(of: kind)
        switch (name, account) {
        case (let name?, let account?): return "\(name)/\(account)"
        case (let name?, nil): return kind.isPassword ? "\(name), whichever account" : name
        case (nil, let account?): return "\(account), whichever service"
        case (nil, nil): return attributes.shownText(.label) ?? attributes.shownText(.applicationTag)
        }
    }

    /// Returns the same, followed by the item's new name if the changes rename it: a program reads whatever has the name that it looks for.
    func shownName(as changes: ItemAttributes) -> String? {
        shownName.map { name in
            let changed = SearchTerms(kind: kind, attributes: attributes.merging(changes), protection: nil)
            return name.toBeCalled(changed.shownName)
        }
    }
}

extension String {
    fileprivate func toBeCalled(_ name: String?) -> String {
        guard let name, !name.isSameBytes(as: self) else { return self }
        return "\(self), to be called \(name)"
    }
}

extension ItemRecord {
    /// The name by which a user knows the item: its label or its service and account.
    var shownName: String {
        let (name, account) = attributes.shownParts(of: kind)
        let whole = [name, account].compactMap(\.self).joined(separator: "/")
        return whole.isEmpty ? attributes.shownText(.label) ?? "without a name" : whole
    }

    /// Returns the same, followed by the item's new name if the changes rename it.
    func shownName(as changes: ItemAttributes) -> String {
        var changed = self
        changed.attributes = attributes.merging(changes)
        return shownName.toBeCalled(changed.shownName)
    }
}

extension ItemAttributes {
    fileprivate func shownParts(of kind: ItemKind) -> (name: String?, account: String?) {
        (shownText(kind == .internetPassword ? .server : .service), shownText(.account))
    }

    fileprivate func shownText(_ name: AttributeName) -> String? {
        switch self[name] {
        case .text(let text): text.isEmpty ? nil : text
        case .data(let bytes): String(validating: bytes, as: UTF8.self).flatMap { $0.isEmpty ? nil : $0 }
        default: nil
        }
    }
}

extension ItemKind {
    fileprivate var isPassword: Bool { self == .genericPassword || self == .internetPassword }
}
