// The person's own say over who may read what: asked for by the command line, and carried out after their yes.

internal import EnclaveWire
internal import KeychainStore
internal import VaubanAccessPolicy
internal import VaubanKeychainModel
internal import VaubanKeychainWire

extension RequestInProgress {
    /// Only the person's own hand manages what programs may do, and only where programs are told apart.
    private func requireOwnHand() throws {
        let rights = try rights()
        guard !rights.ownsEverything else {
            throw Refusal(.notAllowedHere, "in user mode every program of yours is one owner, so there is nothing to permit")
        }
        guard rights.isCommandLine else { throw Refusal(.notAllowedHere, "permissions are changed with the program vauban") }
    }

    func listPermissions() throws {
        try requireOwnHand()
        let rows = try keptRows(nil)
        let names = try itemNames(rows)
        var found: [Permission] = []
        for row in rows {
            guard case .text(let subject)? = row.record.attributes[.service], let space = subject.firstIndex(of: " ") else { continue }
            let rest = String(subject[subject.index(after: space)...])
            switch (subject[..<space], row.record.attributes[.account]) {
            case ("reads", .data(let item)?): found.append(Permission(.reads, subject: rest, object: names[item] ?? "an item that is gone"))
            // Of a build that was refused as a new one of an earlier, it is itself.
            case ("same", .text(let group)?): found.append(Permission(.sameProgram, subject: rest, object: group))
            case ("builds", _): found.append(Permission(.buildsIn, subject: rest))
            default: continue
            }
        }
        var rest = found[...]
        while !rest.isEmpty {
            try sink.send(.permissions(Array(rest.prefix(KeychainReply.permissionsMax))))
            rest = rest.dropFirst(KeychainReply.permissionsMax)
        }
        try sink.send(.done)
    }

    /// The names of the items that permissions are about, as far as their classes are open.
    private func itemNames(_ permissions: [OpenedRow]) throws -> [[UInt8]: String] {
        var wanted: Set<[UInt8]> = []
        for row in permissions { if case .data(let item)? = row.record.attributes[.account] { wanted.insert(item) } }
        var names: [[UInt8]: String] = [:]
        guard !wanted.isEmpty else { return names }
        for kind in ItemKind.allCases {
            let terms = SearchTerms(kind: kind, attributes: ItemAttributes(), protection: nil)
            try forEachRow(of: try selection(terms, of: []), batch: KeychainLimits.batchRowsMax) { row in
                guard wanted.contains(row.item) else { return true }
                do {
                    if let opened = try open(row) { names[row.item] = "\(opened.record.shownName) of \(opened.record.accessGroup)" }
                } catch let refusal as Refusal where refusal.reason == .locked {
                    names[row.item] = "an item that is locked now"
                }
                return names.count < wanted.count
            }
        }
        return names
    }

    func permit(_ change: PermissionChange) throws {
        try requireOwnHand()
        switch change.kind {
        case .reads: try permitReading(change)
        case .buildsIn:
            guard change.subject.hasPrefix("/"), !change.subject.hasSuffix("/") else { throw Refusal(.badParameter, "a folder is an absolute path") }
            if change.permits { try ask(Consent(.changePermission, offered: .once, program: "new builds in \(change.subject)")) }
            try change.permits ? keep(.buildsIn, for: change.subject) : remove("builds \(change.subject)")
        case .sameProgram:
            guard !change.permits else { throw Refusal(.badParameter, "a build is accepted when it comes") }
            try remove("same \(change.subject)")
        }
        try sink.send(.done)
    }

    private func permitReading(_ change: PermissionChange) throws {
        guard var query = change.item else { throw Refusal(.badParameter, "which item?") }
        query.limit = .all
        query.authenticationUI = .describe
        query.coversAllOwners = true
        query.returnsData = false
        let terms = try QueryGrammar.terms(of: query, for: try rights())
        var rows: [OpenedRow] = []
        try forEachRow(of: try selection(terms, of: []), batch: KeychainLimits.batchRowsMax) { row in
            if let opened = try open(row), terms.match(opened.record.attributes) { rows.append(opened) }
            return rows.count < 2
        }
        guard let row = rows.first else { throw Refusal(.itemNotFound) }
        guard rows.count == 1 else { throw Refusal(.badParameter, "more than one item matches; name its account and its owner") }
        if change.permits {
            try ask(
                Consent(.changePermission, offered: .once, item: row.record.shownName, owner: row.record.accessGroup, program: change.subject))
            try keep(.reads(row.binding.item), for: change.subject)
        } else {
            // Taking something away needs no yes.
            try remove("reads \(change.subject)", .data(row.binding.item))
        }
    }

    /// Forgets a subject's permissions, or the one about an object.
    private func remove(_ subject: String, _ object: AttributeValue? = nil) throws {
        try repeating {
            let rows = try keptRows(subject).filter { object == nil || $0.record.attributes[.account] == object }
            guard !rows.isEmpty else { throw Refusal(.itemNotFound, "there is no such permission") }
            return try database.delete(rows.map(\.row.handle))
        }
    }
}
