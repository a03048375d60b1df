// The user's permissions, which `vauban allow` and `vauban forbid` list and change with the user's consent.

internal import EnclaveWire
internal import KeychainStore
internal import VaubanAccessPolicy
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanPlainText
internal import VaubanRefusal
internal import VaubanUserModel

extension RequestInProgress {
    /// Throws unless the caller is the command line, and programs are distinguished.
    private func requireCommandLine() throws {
        let rights = try rights()
        guard !rights.ownsEverything else {
            throw Refusal(.notAllowedHere, "In user mode every program of yours is one owner, so there is nothing to permit")
        }
        guard rights.isCommandLine else { throw Refusal(.notAllowedHere, "Permissions are changed with the program vauban") }
    }

    /// Sends all permissions, page by page: first the user's, then the number of offers of each program.
    func listPermissions() throws {
        try requireCommandLine()
        var page = PermissionPage(sink)
        var offers: [[UInt8]: Int] = [:]
        try forEachKept { row in
            guard let (word, subject) = row.permission else { return }
            if let group = row.offeringGroup, word == "reads" || word == "offers" { return offers[Array(group.utf8), default: 0] += 1 }
            switch (word, row.record.attributes[.account]) {
            case ("reads", .data(let item)?), ("answered", .data(let item)?):
                try page.add(Permission(.reads, subject: subject, object: try itemName(item)))
            // If the user refused a build as a new one of an earlier program, the build counts as itself.
            case ("same", .text(let group)?): try page.add(Permission(.sameProgram, subject: subject, object: group))
            case ("builds", _): try page.add(Permission(.buildsIn, subject: subject))
            default: return
            }
        }
        for team in try trustedTeams() { try page.add(team) }
        let owners = offers.sorted { $0.value == $1.value ? $0.key.lexicographicallyPrecedes($1.key) : $0.value > $1.value }
        for (owner, count) in owners.prefix(KeychainLimits.offeringOwnersMax) {
            // Also full when so close to the limit that an item that names the maximum number of applications would be refused.
            let isFull = count >= KeychainLimits.offersMax,
                isNearlyFull = count + KeychainRequest.applicationsMax > KeychainLimits.offersMax
            try page.add(
                Permission(
                    .offers, subject: String(decoding: owner, as: UTF8.self),
                    object: "\(count)" + (isFull ? ", as many as it may" : isNearlyFull ? ", nearly as many as it may" : "")))
        }
        let rest = owners.dropFirst(KeychainLimits.offeringOwnersMax)
        if !rest.isEmpty {
            try page.add(Permission(.offers, subject: "\(rest.count) more", object: "\(rest.reduce(0) { $0 + $1.value })"))
        }
        try page.flush()
        try sink.send(.done)
    }

    /// Returns the name of the item of a permission, if its class is unlocked.
    private func itemName(_ item: [UInt8]) throws -> String {
        for kind in ItemKind.allCases {
            let terms = SearchTerms(kind: kind, attributes: ItemAttributes(), protection: nil, reference: item)
            var name: String?
            do {
                try forEachRow(of: try selection(terms, of: []), batch: 1) { row in
                    if let opened = try open(row) { name = "\(opened.record.shownName) of \(opened.record.accessGroup)" }
                    return false
                }
            } catch let refusal as Refusal where refusal.reason == .locked {
                return "an item that is locked now"
            }
            // The item's owner chooses its name, at any time. A name that is too long for a message must not hide the other permissions.
            if let name { return PlainLine.bothEnds(name, bytesMax: Permission.textBytesMax) }
        }
        return "an item that is gone"
    }

    func permit(_ change: PermissionChange) throws {
        try requireCommandLine()
        switch change.kind {
        case .reads: try permitReading(change)
        case .buildsIn:
            guard PathBytes.isPlain(change.subject, bytesMax: Permission.textBytesMax) || !change.permits else {
                throw Refusal(.badParameter, "A folder is an absolute path without invisible characters")
            }
            if change.permits { try ask(Consent(.changePermission, offered: .once, program: "new builds in \(change.subject)")) }
            try change.permits ? keep(.buildsIn, for: change.subject) : remove("builds \(change.subject)")
        case .sameProgram:
            guard !change.permits else { throw Refusal(.badParameter, "A build can be accepted only in its own prompt; run the program") }
            try remove("same \(change.subject)")
        case .team: try permitTeam(change)
        case .offers: throw Refusal(.badParameter, "An offer is removed with its item; delete the item")
        }
        try sink.send(.done)
    }

    /// Prompts in the words of the command before it searches, so that a program that starts the command line does not find out what others
    /// store.
    private func permitReading(_ change: PermissionChange) throws {
        guard var query = change.item else {
            throw Refusal(.badParameter, "The request names no item; name one by its service or server and its account")
        }
        query.limit = .all
        query.authenticationUI = .describe
        query.coversAllOwners = true
        query.returns.remove(.data)
        let terms = try QueryGrammar.terms(of: query, for: try rights())
        guard change.permits else { return try forbidReading(change.subject, terms) }
        guard ApplicationIdentifier.canBePermitted(change.subject) else {
            throw Refusal(.badParameter, "A program is named as program:/path, flatpak:name, snap:name or build:hash")
        }
        guard let name = terms.shownName else { throw Refusal(.badParameter, "Name the item by its service or server and its account") }
        let consent = Consent(.changePermission, offered: .once, item: name, owner: terms.namedGroup, program: change.subject)
        guard let choice = try promptOnce(to: consent, of: terms.kind) else { throw Refusal(.internalError) }
        var rows: [OpenedRow] = []
        try forEachRow(of: try selection(terms, of: []), batch: KeychainLimits.batchRowsMax) { row in
            if let opened = try open(row), terms.match(opened.record.attributes) { rows.append(opened) }
            return rows.count < 2
        }
        guard let row = rows.first else {
            caller.consents.unused.withLock { $0 = PendingConsent(consent: consent, choice: choice, kind: terms.kind) }
            throw Refusal(.itemNotFound)
        }
        guard rows.count == 1 else { throw Refusal(.badParameter, "More than one item matches; name the account and the owner") }
        try keep(.reads(row.binding.item), for: change.subject)
    }

    /// Withdraws permissions, which needs no consent. Considers only what the user allowed the subject to read, as `vauban allow` lists it.
    /// Offers between programs belong to the programs, permit nothing by themselves, and are not listed.
    private func forbidReading(_ subject: String, _ terms: SearchTerms) throws {
        try withRetries {
            let rows = try ["reads", "answered"].flatMap { try keptRows("\($0) \(subject)") }.filter { row in
                guard row.offeringGroup == nil else { return false }
                return try row.permittedItem.map { try means($0, terms) } ?? false
            }
            guard !rows.isEmpty else { throw Refusal(.itemNotFound) }
            for row in rows { if let item = row.permittedItem { services.leasedKeys.forget(item, of: subject, user: user) } }
            return try database.delete(rows.map(\.row.handle))
        }
    }

    private func means(_ item: [UInt8], _ terms: SearchTerms) throws -> Bool {
        var terms = terms
        guard terms.reference.map({ $0 == item }) ?? true else { return false }
        terms.reference = item
        var isMeant = false
        try forEachRow(of: try selection(terms, of: []), batch: 1) { row in
            if let opened = try open(row), terms.match(opened.record.attributes) { isMeant = true }
            return false
        }
        return isMeant
    }

    /// Removes a subject's permissions.
    func remove(_ subject: String) throws {
        try withRetries {
            let rows = try keptRows(subject)
            guard !rows.isEmpty else { throw Refusal(.itemNotFound, "There is no such permission; vauban allow lists them") }
            return try database.delete(rows.map(\.row.handle))
        }
    }
}

/// Permissions to be sent, one message at a time.
private struct PermissionPage {
    private let sink: any ReplySink
    private var permissions: [Permission] = []

    init(_ sink: any ReplySink) { self.sink = sink }

    mutating func add(_ permission: Permission) throws {
        permissions.append(permission)
        if permissions.count == KeychainReply.permissionsMax { try flush() }
    }

    mutating func flush() throws {
        guard !permissions.isEmpty else { return }
        try sink.send(.permissions(permissions))
        permissions = []
    }
}
