// What the user has let happen for good. It is kept as rows of a kind of its own, so that it is encrypted, bound and
// found as items are; in class C and on this device only, since it is looked at while locked.

internal import EnclaveWire
internal import KeychainStore
internal import Logging
internal import VaubanAccessPolicy
internal import VaubanDER
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanPlainText
internal import VaubanRefusal
internal import VaubanSecretBytes
internal import VaubanUserModel

/// One permission as a row names it: a subject, and what it is let do.
enum StoredPermission: Hashable {
    /// The subject, an application or an interpreter, reads an item; the user permitted that beforehand.
    case reads([UInt8])
    /// The same, as the user's lasting answer to a question. It holds for who names the item's owner, as the question did.
    case answered([UInt8])
    /// The owner of an item lets the subject, an application, ask the user for it.
    case offers([UInt8])
    /// The subject, a build, is the same program as that of a group.
    case sameProgram(String)
    /// The subject, a path, is where the program of a group was.
    case program(String)
    /// New builds in the subject, a folder, are accepted.
    case buildsIn

    /// The word before the subject, so that one look-up finds all of one subject.
    var word: String {
        switch self {
        case .reads: "reads"
        case .answered: "answered"
        case .offers: "offers"
        case .sameProgram: "same"
        case .program: "program"
        case .buildsIn: "builds"
        }
    }

    var object: AttributeValue {
        switch self {
        case .reads(let item), .answered(let item), .offers(let item): .data(item)
        case .sameProgram(let group), .program(let group): .text(group)
        case .buildsIn: .text("")
        }
    }
}

extension RequestInProgress {
    /// Keeps a permission; one that is kept already stays. What a program offers and not the user permits is kept with the name
    /// of its group.
    func keep(_ permission: StoredPermission, for subject: String, by group: String? = nil) throws {
        var record = Self.record("\(permission.word) \(subject)", permission.object)
        guard try keptRows(record.attributes).isEmpty else { return }
        if let group { record.attributes[.label] = .text(group) }
        let now = parts.now()
        record.attributes[.creationDate] = .date(now)
        record.attributes[.modificationDate] = .date(now)
        try checkSize(record)
        let item = try Entropy.bytes(16)
        let written = record
        do {
            try repeating { try write(written, item, PaddedValue(hasValue: false, SecretBytes(count: 0) { _ in })) }
        } catch let refusal as Refusal where refusal.reason == .duplicateItem {}
    }

    private static func record(_ subject: String, _ object: AttributeValue) -> ItemRecord {
        ItemRecord(
            kind: .permission,
            attributes: ItemAttributes([
                .accessGroup: .text(AccessGroup.permissions), .synchronizable: .number(0), .service: .text(subject), .account: object,
            ]), protection: .afterFirstUnlockThisDeviceOnly)
    }

    /// The rows of a subject.
    func keptRows(_ subject: String) throws -> [OpenedRow] {
        try keptRows(ItemAttributes([.accessGroup: .text(AccessGroup.permissions), .service: .text(subject)]))
    }

    /// The rows with all of these attributes. Those that programs can make many of are bounded for each owner.
    private func keptRows(_ attributes: ItemAttributes) throws -> [OpenedRow] {
        var rows: [OpenedRow] = []
        try forEachKept(attributes) { rows.append($0) }
        return rows
    }

    /// Goes through all permissions, or those with all of these attributes, however many there are: nobody can hide one behind
    /// others. None before the first unlock, when nothing can be found.
    func forEachKept(
        _ attributes: ItemAttributes = ItemAttributes([.accessGroup: .text(AccessGroup.permissions)]), _ body: (OpenedRow) throws -> Void
    ) throws {
        let terms = SearchTerms(kind: .permission, attributes: attributes, protection: nil)
        let selection = try selection(terms, of: [])
        guard !selection.usesDeviceIndex else { return }
        try forEachRow(of: selection, batch: KeychainLimits.batchRowsMax) { row in
            if let opened = try open(row), terms.match(opened.record.attributes) { try body(opened) }
            return true
        }
    }

    private func objects(_ subject: String) throws -> [AttributeValue] {
        try keptRows(subject).compactMap { $0.record.attributes[.account] }
    }

    private func items(_ rows: [OpenedRow]) -> Set<[UInt8]> { Set(rows.compactMap(\.permittedItem)) }

    /// The items that the user permits this one to read, whoever is named. A row that names a group was written for a program,
    /// by an earlier version, and is an offer.
    func itemsReadable(by key: String) throws -> Set<[UInt8]> { items(try keptRows("reads \(key)").filter { $0.offeringGroup == nil }) }

    /// The items that the user let it read when it asked: for good, or until the lock.
    func itemsAnswered(for key: String) throws -> Set<[UInt8]> {
        items(try keptRows("answered \(key)")).union(parts.lent.remembered(key, of: user))
    }

    /// The items of an owner for which this one may ask.
    func itemsOffered(to key: String, by owner: String) throws -> Set<[UInt8]> {
        let words = ["offers", "reads"].map { "\($0) \(key)" }
        return try words.reduce(into: Set()) { found, subject in
            let attributes = ItemAttributes([
                .accessGroup: .text(AccessGroup.permissions), .service: .text(subject), .label: .text(owner),
            ])
            found.formUnion(items(try keptRows(attributes)))
        }
    }

    /// Where programs are told apart, one that offers others what it keeps can do so a bounded number of times, so
    /// that it cannot fill the keychain with what stands in nobody's list of items.
    func checkOffers(to applications: [String], by group: String) throws {
        guard !applications.isEmpty else { return }
        guard applications.allSatisfy({ ApplicationIdentifier(text: $0).isWellFormed }) else {
            throw Refusal(
                .badParameter,
                """
                a trusted application is named as program:/path, flatpak:name, snap:name or build:digest; a script has no name, and is \
                asked about
                """
            )
        }
        let mine = try keptRows(ItemAttributes([.accessGroup: .text(AccessGroup.permissions), .label: .text(group)])).count
        guard mine + applications.count <= KeychainLimits.grantsMax else {
            parts.boundedLog.notice("an owner offers as many of its items as one may", about: user, ["offers": "\(mine)"])
            throw Refusal(.storageFull, "this program lets others ask for as many items as one may; delete some of them")
        }
    }

    /// The rows that say who may read these items, which go with them; of these the ones that are wanted.
    func grants(of rows: [RowHandle], where isWanted: (OpenedRow) -> Bool = { _ in true }) throws -> [RowHandle] {
        guard try !rights().ownsEverything else { return [] }
        let items = rows.compactMap { try? RowBinding(derBytes: $0.metadataBinding).item }
        var grants: [RowHandle] = []
        // From some number on it is quicker to look at all permissions once.
        guard items.count <= KeychainLimits.grantsLookedUpMax else {
            let wanted = Set(items)
            try forEachKept { if let item = $0.permittedItem, wanted.contains(item), isWanted($0) { grants.append($0.row.handle) } }
            return grants
        }
        for item in items {
            let attributes = ItemAttributes([.accessGroup: .text(AccessGroup.permissions), .account: .data(item)])
            try forEachKept(attributes) { if isWanted($0) { grants.append($0.row.handle) } }
        }
        return grants
    }

    /// What the user let read these items, which ends when they are called otherwise: a yes was about the name that the question had, and
    /// an owner must not bring its item before a program that looks for another one.
    func permissionsToRead(_ items: [OpenedRow]) throws -> [RowHandle] {
        guard !items.isEmpty else { return [] }
        return try grants(of: items.map(\.row.handle)) { $0.offeringGroup == nil && ["reads", "answered"].contains($0.permission?.word) }
    }

    // MARK: Builds of the user's own programs

    /// What a program is taken for. A build that was never here, at a path where another one kept items, is offered to the
    /// user once as a new build of that one.
    func application(of identity: CallerIdentity, mayAsk: Bool) throws -> ApplicationIdentifier? {
        guard let own = identity.application else { return nil }
        guard identity.standing == .own, let path = identity.executable?.path else { return own }
        if case .text(let group)? = try objects("same \(own.text)").last { return ApplicationIdentifier(text: group) }
        let known = try objects("program \(path)").compactMap { if case .text(let group) = $0 { group } else { nil } }
        guard !known.containsBytes(of: own.text), let before = try known.last(where: { try !isRefusedBuild($0) }) else { return own }
        guard try !isAcceptedBuild(at: path) else {
            try keep(.sameProgram(before), for: own.text)
            return ApplicationIdentifier(text: before)
        }
        guard mayAsk else { throw Refusal(.interactionNotAllowed, "the program is a new build, which the user has not accepted yet") }
        do {
            try ask(Consent(.acceptBuild, offered: .once, program: path))
            try keep(.sameProgram(before), for: own.text)
            return ApplicationIdentifier(text: before)
        } catch let refusal as Refusal where refusal.reason == .cancelled && refusal.detail == nil {
            // A no is an answer: it is another program from now on, and nobody is asked again.
            try keep(.sameProgram(own.text), for: own.text)
            return own
        }
    }

    /// Whether the user said of a build that it is another program than the one before it: then it is itself, and none that a later
    /// build goes on from.
    private func isRefusedBuild(_ build: String) throws -> Bool {
        if case .text(let group)? = try objects("same \(build)").last { group.isSameBytes(as: build) } else { false }
    }

    private func isAcceptedBuild(at path: String) throws -> Bool {
        var folder = path
        while let above = PathBytes.parts(of: folder)?.folder, !above.isSameBytes(as: "/") {
            folder = above
            if try !objects("builds \(folder)").isEmpty { return true }
        }
        return false
    }

    /// Remembers where a program of the user's own was when it first kept something. Of one place the last builds are
    /// remembered: more of them are no programs of the user's.
    func keepProgram() throws {
        guard let identity = caller.identity, identity.standing == .own, let path = identity.executable?.path, let group = try rights().key
        else {
            return
        }
        // Those that were refused must not push out the one that was not.
        guard try !isRefusedBuild(group) else { return }
        try keep(.program(group), for: path)
        let kept = try keptRows("program \(path)")
        guard kept.count > KeychainLimits.buildsOfPathMax else { return }
        _ = try database.delete(kept.dropLast(KeychainLimits.buildsOfPathMax).map(\.row.handle))
    }
}

extension OpenedRow {
    /// The item that a permission is about.
    var permittedItem: [UInt8]? { if case .data(let item)? = record.attributes[.account] { item } else { nil } }

    /// Whose offer a permission is; nil where it is the user's own word.
    var offeringGroup: String? { if case .text(let group)? = record.attributes[.label] { group } else { nil } }

    /// The word of a permission, and its subject.
    var permission: (word: String, subject: String)? {
        guard case .text(let text)? = record.attributes[.service] else { return nil }
        let parts = text.utf8.split(separator: 0x20, maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        return (String(decoding: parts[0], as: UTF8.self), String(decoding: parts[1], as: UTF8.self))
    }
}
