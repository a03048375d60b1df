// The user's own say over who may read what: asked for by the command line, and carried out after their yes.

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
    /// Only the user's own hand manages what programs may do, and only where programs are told apart.
    private func requireOwnHand() throws {
        let rights = try rights()
        guard !rights.ownsEverything else {
            throw Refusal(.notAllowedHere, "in user mode every program of yours is one owner, so there is nothing to permit")
        }
        guard rights.isCommandLine else { throw Refusal(.notAllowedHere, "permissions are changed with the program vauban") }
    }

    /// Tells what is permitted, page by page, whatever there is of it: first what the user said, then how much each program
    /// offers to others.
    func listPermissions() throws {
        try requireOwnHand()
        var page = PermissionPage(sink)
        var offers: [[UInt8]: Int] = [:]
        try forEachKept { row in
            guard let (word, subject) = row.permission else { return }
            if let group = row.offeringGroup, word == "reads" || word == "offers" { return offers[Array(group.utf8), default: 0] += 1 }
            switch (word, row.record.attributes[.account]) {
            case ("reads", .data(let item)?), ("answered", .data(let item)?):
                try page.add(Permission(.reads, subject: subject, object: try itemName(item)))
            // Of a build that was refused as a new one of an earlier, it is itself.
            case ("same", .text(let group)?): try page.add(Permission(.sameProgram, subject: subject, object: group))
            case ("builds", _): try page.add(Permission(.buildsIn, subject: subject))
            default: return
            }
        }
        let owners = offers.sorted { $0.value == $1.value ? $0.key.lexicographicallyPrecedes($1.key) : $0.value > $1.value }
        for (owner, count) in owners.prefix(KeychainLimits.offeringOwnersMax) {
            // As many as it may, or so many that an item which names as many applications as one can is refused.
            let isFull = count >= KeychainLimits.grantsMax,
                isNearlyFull = count + KeychainRequest.applicationsMax > KeychainLimits.grantsMax
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

    /// The name of an item that a permission is about, as far as its class is open.
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
            // Whoever keeps the item chooses its name, also afterwards: one that fits no message must not hide the others.
            if let name { return PlainLine.bothEnds(name, bytesMax: Permission.textBytesMax) }
        }
        return "an item that is gone"
    }

    func permit(_ change: PermissionChange) throws {
        try requireOwnHand()
        switch change.kind {
        case .reads: try permitReading(change)
        case .buildsIn:
            guard PathBytes.isPlain(change.subject, bytesMax: Permission.textBytesMax) || !change.permits else {
                throw Refusal(.badParameter, "a folder is an absolute path without invisible signs")
            }
            if change.permits { try ask(Consent(.changePermission, offered: .once, program: "new builds in \(change.subject)")) }
            try change.permits ? keep(.buildsIn, for: change.subject) : remove("builds \(change.subject)")
        case .sameProgram:
            guard !change.permits else { throw Refusal(.badParameter, "a build is accepted when it comes") }
            try remove("same \(change.subject)")
        case .offers: throw Refusal(.badParameter, "an offer is made by the program that keeps the item, and goes with it")
        }
        try sink.send(.done)
    }

    /// Asks in the words of the command before anything is looked for, so that whoever starts the command line learns nothing
    /// of what others keep.
    private func permitReading(_ change: PermissionChange) throws {
        guard var query = change.item else { throw Refusal(.badParameter, "which item?") }
        query.limit = .all
        query.authenticationUI = .describe
        query.coversAllOwners = true
        query.returnsData = false
        let terms = try QueryGrammar.terms(of: query, for: try rights())
        guard change.permits else { return try forbidReading(change.subject, terms) }
        guard ApplicationIdentifier.canBePermitted(change.subject) else {
            throw Refusal(.badParameter, "a program is named as program:/path, flatpak:name, snap:name or build:digest")
        }
        guard let name = terms.shownName else { throw Refusal(.badParameter, "name the item by its service or server and its account") }
        let consent = Consent(.changePermission, offered: .once, item: name, owner: terms.namedGroup, program: change.subject)
        guard let choice = try agree(to: consent, of: terms.kind) else { throw Refusal(.internalError) }
        var rows: [OpenedRow] = []
        try forEachRow(of: try selection(terms, of: []), batch: KeychainLimits.batchRowsMax) { row in
            if let opened = try open(row), terms.match(opened.record.attributes) { rows.append(opened) }
            return rows.count < 2
        }
        guard let row = rows.first else {
            caller.said.unused.withLock { $0 = PendingConsent(consent: consent, choice: choice, kind: terms.kind) }
            throw Refusal(.itemNotFound)
        }
        guard rows.count == 1 else { throw Refusal(.badParameter, "more than one item matches; name its account and its owner") }
        try keep(.reads(row.binding.item), for: change.subject)
    }

    /// Taking something away needs no yes. Only what the user let the subject read is looked at, which `vauban allow` lists; what
    /// programs offer each other is theirs, opens nothing by itself, and is told to nobody.
    private func forbidReading(_ subject: String, _ terms: SearchTerms) throws {
        try repeating {
            let rows = try ["reads", "answered"].flatMap { try keptRows("\($0) \(subject)") }.filter { row in
                guard row.offeringGroup == nil else { return false }
                return try row.permittedItem.map { try means($0, terms) } ?? false
            }
            guard !rows.isEmpty else { throw Refusal(.itemNotFound) }
            for row in rows { if let item = row.permittedItem { parts.lent.forget(item, of: subject, user: user) } }
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

    /// Forgets a subject's permissions.
    private func remove(_ subject: String) throws {
        try repeating {
            let rows = try keptRows(subject)
            guard !rows.isEmpty else { throw Refusal(.itemNotFound, "there is no such permission") }
            return try database.delete(rows.map(\.row.handle))
        }
    }
}

/// Permissions on their way out, a message at a time.
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
