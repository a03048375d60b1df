// Access to other owners' items: only with the user's consent, and so that a caller without it cannot find out what exists
// (Specs/access-groups.md).

internal import EnclaveWire
internal import KeychainStore
internal import VaubanAccessPolicy
internal import VaubanKeychainModel
internal import VaubanLinuxHost
internal import VaubanPlainText
internal import VaubanRefusal
internal import VaubanUserModel

extension RequestInProgress {
    /// Calls `body` with each row that matches the terms, belongs to another owner and may be used with the user's consent, until `body`
    /// returns false. Returns whether a prompt was omitted, which does not depend on what other owners store.
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
            guard rights.mayRequestAnyOwner else { return false }
            return try searchUnsignedItems(of: terms, without: permitted, answered: answered, request: request, body: body)
        }
        if owner.isSameBytes(as: AccessGroup.unsigned), rights.mayRequestAnyOwner {
            return try searchUnsignedItems(of: terms, without: permitted, answered: answered, request: request, body: body)
        }
        guard rights.mayRequestAnyOwner else {
            return try searchOfferedItems(of: owner, terms: terms, without: permitted, request: request, body: body)
        }
        return try promptBeforeSearching(for: terms, of: owner, without: permitted, request, body)
    }

    /// Returns the refusal for an empty result. If a prompt was omitted, the refusal says so, and never that no item exists.
    func notFound(leftOut isLeftOut: Bool, ui: AuthenticationUI) -> Refusal {
        guard isLeftOut, ui == .allow || ui == .fail else { return Refusal(.itemNotFound) }
        return Refusal(
            .interactionNotAllowed,
            "Whether another program has this item can only be answered after a prompt about one item; name its service and account")
    }

    /// Prompts in the caller's own words before it searches, so that neither the prompt nor its timing nor a hang-up reveals anything. A
    /// caller without an identity can request items of every owner.
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

    /// A caller without an identity adds unsigned items itself and finds out which names are taken, so they are not secret. This searches
    /// first, and the prompt names what was found.
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
                // A locked class must not end the search for items that the caller owns.
                isLeftOut = true
                return true
            }
        }
        return isLeftOut
    }

    /// Searches the items that their owner offers to this program. The program may find out that an offer exists.
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

    /// Calls `body` with the rows of these items that match the terms. Rows are looked up by item, so the time does not depend on other
    /// rows. Returns false if `body` ended the search.
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
}
