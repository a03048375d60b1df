// Across the line between what is one program's and what is another's: only where the user has said yes, and in a way that
// tells nobody without that yes whether there is anything (Specs/access-groups.md).

internal import EnclaveWire
internal import KeychainStore
internal import VaubanAccessPolicy
internal import VaubanKeychainModel
internal import VaubanLinuxHost
internal import VaubanPlainText
internal import VaubanRefusal
internal import VaubanUserModel

/// For what another owner's item is wanted, and whether the user can be asked about it.
struct ConsentRequest {
    let purpose: Consent.Purpose
    let ui: AuthenticationUI
    /// A question is about one item.
    var isForOne = true
    let reason: String?
    /// What is to be changed of the item, which the question says where it changes its name.
    var changes = ItemAttributes()

    var mayAsk: Bool { ui == .allow && isForOne }
    /// Whether the caller is told of a question that could not be asked.
    var isTold: Bool { ui == .allow || ui == .fail }
}

extension RequestInProgress {
    /// Goes through the rows that the terms mean, that are not the caller's own and that the user lets it use, until `body`
    /// answers false. Answers whether a question was left out; which does not depend on what another owner keeps.
    func forEachForeignRow(of terms: SearchTerms, _ asking: ConsentRequest, _ body: (OpenedRow) throws -> Bool) throws -> Bool {
        let rights = try rights()
        let owner = terms.namedGroup
        guard !rights.ownsEverything, owner.map({ !rights.owns($0) }) ?? true else { return false }
        var permitted: Set<[UInt8]> = []
        var answered: Set<[UInt8]> = []
        if asking.purpose == .readItem, let key = rights.key {
            permitted = try itemsReadable(by: key)
            answered = try itemsAnswered(for: key)
        }
        if owner != nil { permitted.formUnion(answered) }
        guard try forEachRow(of: terms, among: permitted, body) else { return false }
        guard let owner else {
            guard rights.asks else { return false }
            return try askAboutUnsigned(of: terms, without: permitted, answered, asking, body)
        }
        if owner.isSameBytes(as: AccessGroup.unsigned), rights.asks {
            return try askAboutUnsigned(of: terms, without: permitted, answered, asking, body)
        }
        guard rights.asks else { return try askAboutOffers(of: owner, terms, without: permitted, asking, body) }
        return try askBeforeLooking(for: terms, of: owner, without: permitted, asking, body)
    }

    /// A caller that would have been asked about is told that, and never that there is nothing.
    func notFound(_ isLeftOut: Bool, _ ui: AuthenticationUI) -> Refusal {
        guard isLeftOut, ui == .allow || ui == .fail else { return Refusal(.itemNotFound) }
        return Refusal(
            .interactionNotAllowed, "whether another program keeps the item, and may let this one use it, takes a question about one item")
    }

    /// Asks first and looks afterwards, in the caller's own words: whoever watches questions come and go, or takes the time, or
    /// hangs up, learns nothing. Who has no name can ask about every owner.
    private func askBeforeLooking(
        for terms: SearchTerms, of owner: String, without used: Set<[UInt8]>, _ asking: ConsentRequest, _ body: (OpenedRow) throws -> Bool
    ) throws -> Bool {
        guard asking.mayAsk, let name = terms.shownName(as: asking.changes) else { return true }
        let consent = try consent(asking.purpose, item: name, owner: owner)
        guard let choice = try agree(to: consent, of: terms.kind, asking.reason) else { return true }
        var isFound = false
        try forEachRow(of: try selection(terms, of: []), batch: KeychainLimits.batchRowsMax) { row in
            guard !used.contains(row.item), let opened = try open(row), terms.match(opened.record.attributes), spendYes(on: row.item) else {
                return true
            }
            isFound = true
            try remember(choice, row.item, asking.purpose)
            return try body(opened)
        }
        if !isFound { caller.said.unused.withLock { $0 = PendingConsent(consent: consent, choice: choice, kind: terms.kind) } }
        return false
    }

    /// What belongs to nobody is no secret of a program's: whoever has no name adds there, and hears of each name that is taken. So it
    /// is looked up first, and the question says what was found.
    private func askAboutUnsigned(
        of terms: SearchTerms, without used: Set<[UInt8]>, _ answered: Set<[UInt8]>, _ asking: ConsentRequest,
        _ body: (OpenedRow) throws -> Bool
    ) throws -> Bool {
        guard asking.isTold || !answered.isEmpty, let terms = terms.within(AccessGroup.unsigned) else { return false }
        var isLeftOut = false
        try forEachRow(of: try selection(terms, of: []), batch: KeychainLimits.batchRowsMax) { row in
            guard !used.contains(row.item) else { return true }
            do {
                guard let opened = try open(row), terms.match(opened.record.attributes) else { return true }
                guard try answered.contains(row.item) || letIn(opened, asking) else {
                    isLeftOut = true
                    return true
                }
                return try body(opened)
            } catch let refusal as Refusal where refusal.reason == .locked && !asking.mayAsk {
                // That this class is closed must not end a search for what the caller has.
                isLeftOut = true
                return true
            }
        }
        return isLeftOut
    }

    /// What the owner lets this program ask for. That there is an offer is no secret from whom it was made to.
    private func askAboutOffers(
        of owner: String, _ terms: SearchTerms, without used: Set<[UInt8]>, _ asking: ConsentRequest, _ body: (OpenedRow) throws -> Bool
    ) throws -> Bool {
        guard asking.purpose == .readItem, let key = try rights().key else { return false }
        var isLeftOut = false
        do {
            _ = try forEachRow(of: terms, among: try itemsOffered(to: key, by: owner).subtracting(used)) { opened in
                guard try letIn(opened, asking) else {
                    isLeftOut = true
                    return true
                }
                return try body(opened)
            }
        } catch let refusal as Refusal where refusal.reason == .locked && !asking.mayAsk {
            return true
        }
        return isLeftOut
    }

    /// The rows of these items that the terms mean. They are looked up by what they are, so that how long it takes depends on
    /// nothing else that is kept. False when `body` has had enough.
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
            var goesOn = true
            try forEachRow(of: selection, batch: 1) { row in
                guard let opened = try open(row), terms.match(opened.record.attributes) else { return true }
                goesOn = try body(opened)
                return goesOn
            }
            guard goesOn else { return false }
        }
        return true
    }

    // MARK: The question

    /// Whether the user lets the caller use an item that was found.
    private func letIn(_ opened: OpenedRow, _ asking: ConsentRequest) throws -> Bool {
        guard asking.mayAsk else { return false }
        let item = opened.record.shownName(as: asking.changes)
        let consent = try consent(asking.purpose, item: item, owner: opened.record.accessGroup)
        guard let choice = try agree(to: consent, of: opened.record.kind, asking.reason), spendYes(on: opened.row.item) else {
            return false
        }
        try remember(choice, opened.row.item, asking.purpose)
        return true
    }

    /// What changes or removes an item is for once; so is what an unnamed caller reads.
    private func consent(_ purpose: Consent.Purpose, item: String, owner: String) throws -> Consent {
        let key = purpose == .readItem ? try rights().key : nil
        return Consent(purpose, offered: key == nil ? .once : [.once, .untilLock, .always], item: item, owner: owner, program: key)
    }

    private func remember(_ choice: ConsentChoice, _ item: [UInt8], _ purpose: Consent.Purpose) throws {
        guard purpose == .readItem, let key = try rights().key else { return }
        switch choice {
        case .once: break
        case .untilLock: parts.lent.remember(RememberedConsent(key: Array(key.utf8), item: item), of: user)
        case .always: try keep(.answered(item), for: key)
        }
    }

    /// The answer to a question, which is asked once in a request; nil where another one was asked in it. A yes that found
    /// nothing holds for the next request of the connection about another class, which asks in the same words.
    func agree(to consent: Consent, of kind: ItemKind, _ reason: String? = nil) throws -> ConsentChoice? {
        if let agreed { return agreed.consent == consent ? agreed.choice : nil }
        let unused = caller.said.unused.withLock { unused in
            defer { unused = nil }
            return unused
        }
        var choice: ConsentChoice?
        if let unused, unused.consent == consent, unused.kind != kind { choice = unused.choice }
        let answer = try choice ?? ask(consent, reason)
        agreed = Agreement(consent: consent, choice: answer)
        return answer
    }

    /// Uses the yes of this request: for one item, which stays the same when its row is looked at again.
    func spendYes(on item: [UInt8]) -> Bool {
        guard agreed?.item == nil || agreed?.item == item else { return false }
        agreed?.item = item
        return true
    }

    /// Asks the user. Where nobody can be asked, that is what the caller hears, never that there is nothing.
    @discardableResult
    func ask(_ consent: Consent, _ reason: String? = nil) throws -> ConsentChoice {
        do {
            return try enclave.consent(consent, reason: reason)
        } catch let refusal as Refusal where refusal.reason == .passcodeNotSet {
            throw Refusal(.interactionNotAllowed, "nobody can say yes to that while no passcode is set; run: vauban passcode set")
        }
    }
}

/// The one question of a request, what the user answered, and the item that the answer was used for.
struct Agreement {
    let consent: Consent
    let choice: ConsentChoice
    var item: [UInt8]?
}

/// A yes to a question about an item that is not there in one class of items.
struct PendingConsent: Sendable {
    let consent: Consent
    let choice: ConsentChoice
    let kind: ItemKind
}

extension SearchTerms {
    /// The same terms for the items of one group; nil where they name another.
    func within(_ group: String) -> SearchTerms? {
        guard namedGroup.map({ $0.isSameBytes(as: group) }) ?? true else { return nil }
        var within = attributes
        within[.accessGroup] = .text(group)
        return SearchTerms(kind: kind, attributes: within, protection: protection, reference: reference)
    }

    /// What is asked for, in the caller's own words; nil where they say nothing that a user could decide about.
    var shownName: String? {
        let (name, account) = attributes.shownParts(of: kind)
        switch (name, account) {
        case (let name?, let account?): return "\(name)/\(account)"
        case (let name?, nil): return kind.isPassword ? "\(name), whichever account" : name
        case (nil, let account?): return "\(account), whichever service"
        case (nil, nil): return attributes.shownText(.label) ?? attributes.shownText(.applicationTag)
        }
    }

    /// The same, and what the item will be called where that is something else: a program reads what has the name that it looks for.
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
    /// How a user knows the item: by its label or by what it is called.
    var shownName: String {
        let (name, account) = attributes.shownParts(of: kind)
        let whole = [name, account].compactMap(\.self).joined(separator: "/")
        return whole.isEmpty ? attributes.shownText(.label) ?? "without a name" : whole
    }

    /// The same, and what it will be called with these changes.
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
