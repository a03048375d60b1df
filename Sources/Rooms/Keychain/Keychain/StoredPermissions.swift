// Permissions: the user's lasting consents. They are stored as rows of a separate kind, and so are encrypted, bound and found like items.
// Their class is C on this device only, since they are read while the keychain is locked.

internal import EnclaveWire
internal import KeychainStore
internal import Logging
internal import VaubanAccessPolicy
internal import VaubanDER
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanRoomLog
internal import VaubanPlainText
internal import VaubanRefusal
internal import VaubanSecretBytes
internal import VaubanUserModel

/// A permission as a row stores it: a subject and what the subject may do.
enum StoredPermission: Hashable {
    /// The subject, an application or an interpreter, may read an item. The user permitted this in advance.
    case reads([UInt8])
    /// The same, as the user's lasting answer to a prompt. It applies to requests that name the item's owner, as the prompt did.
    case answered([UInt8])
    /// The owner of an item allows the subject, an application, to request the item, which needs the user's consent.
    case offers([UInt8])
    /// The subject, a build, counts as the program of a group.
    case sameProgram(String)
    /// The program of a group was installed at the subject, a path.
    case program(String)
    /// New builds in the subject, a folder, are accepted.
    case buildsIn
    /// The subject, a team, is trusted under a name.
    case team(String)

    /// The word before the subject. Together they are one attribute, so that one look-up finds all permissions of this kind for a subject.
    var word: String {
        switch self {
        case .reads: "reads"
        case .answered: "answered"
        case .offers: "offers"
        case .sameProgram: "same"
        case .program: "program"
        case .buildsIn: "builds"
        case .team: "team"
        }
    }

    var object: AttributeValue {
        switch self {
        case .reads(let item), .answered(let item), .offers(let item): .data(item)
        case .sameProgram(let text), .program(let text), .team(let text): .text(text)
        case .buildsIn: .text("")
        }
    }
}

extension RequestInProgress {
    /// Stores a permission unless it exists already. An offer, which a program makes rather than the user, is stored with the name of the
    /// program's group.
    func keep(_ permission: StoredPermission, for subject: String, by group: String? = nil) throws {
        var record = Self.record("\(permission.word) \(subject)", permission.object)
        guard try keptRows(record.attributes).isEmpty else { return }
        if let group { record.attributes[.label] = .text(group) }
        let now = services.now()
        record.attributes[.creationDate] = .date(now)
        record.attributes[.modificationDate] = .date(now)
        try checkSize(record)
        let item = try Entropy.bytes(16)
        let written = record
        do {
            try withRetries { try write(written, item: item, value: PaddedValue(hasValue: false, SecretBytes(count: 0) { _ in })) }
        } catch let refusal as Refusal where refusal.reason == .duplicateItem {}
    }

    private static func record(_ subject: String, _ object: AttributeValue) -> ItemRecord {
        ItemRecord(
            kind: .permission,
            attributes: ItemAttributes([
                .accessGroup: .text(AccessGroup.permissions), .synchronizable: .number(0), .service: .text(subject), .account: object,
            ]), protection: .afterFirstUnlockThisDeviceOnly)
    }

    /// Returns the rows of the permissions of a subject.
    func keptRows(_ subject: String) throws -> [OpenedRow] {
        try keptRows(ItemAttributes([.accessGroup: .text(AccessGroup.permissions), .service: .text(subject)]))
    }

    /// Returns the rows with all of these attributes. The number of rows that programs can create is limited for each owner.
    private func keptRows(_ attributes: ItemAttributes) throws -> [OpenedRow] {
        var rows: [OpenedRow] = []
        try forEachKept(attributes) { rows.append($0) }
        return rows
    }

    /// Calls `body` with all permissions, or with those that have all of these attributes. There is no limit, so that no permission can
    /// hide others. Before the first unlock nothing is found.
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

    /// Returns the items that the user permits the subject to read, whatever owner a request names. Rows with the name of a group are
    /// excluded, since an earlier version wrote such a row for an offer.
    func itemsReadable(by key: String) throws -> Set<[UInt8]> { items(try keptRows("reads \(key)").filter { $0.offeringGroup == nil }) }

    /// Returns the items that the user allowed the subject to read in answer to prompts, permanently or until the lock.
    func itemsAnswered(for key: String) throws -> Set<[UInt8]> {
        items(try keptRows("answered \(key)")).union(services.leasedKeys.itemsReadableUntilLock(by: key, of: user))
    }

    /// Returns the items of an owner that the subject may request.
    func itemsOffered(to key: String, by owner: String) throws -> Set<[UInt8]> {
        let words = ["offers", "reads"].map { "\($0) \(key)" }
        return try words.reduce(into: Set()) { found, subject in
            let attributes = ItemAttributes([
                .accessGroup: .text(AccessGroup.permissions), .service: .text(subject), .label: .text(owner),
            ])
            found.formUnion(items(try keptRows(attributes)))
        }
    }

    /// Throws if an owner makes too many offers. Without a limit, a program could fill the keychain with rows that no list of items shows.
    func checkOffers(to applications: [String], by group: String) throws {
        guard !applications.isEmpty else { return }
        guard applications.allSatisfy({ ApplicationIdentifier(text: $0).isWellFormed }) else {
            throw Refusal(
                .badParameter,
                """
                A trusted application is named as program:/path, flatpak:name, snap:name or build:hash; a script has no name, and is \
                asked about
                """
            )
        }
        let mine = try keptRows(ItemAttributes([.accessGroup: .text(AccessGroup.permissions), .label: .text(group)])).count
        guard mine + applications.count <= KeychainLimits.offersMax else {
            services.boundedLog.notice("an owner has reached the limit of offers", about: user, ["offers": "\(mine)"])
            throw Refusal(.storageFull, "This program lets others ask for too many items; delete some of them")
        }
    }

    /// Returns those of the rows that permit reading these items for which `isWanted` returns true. They are deleted together with the
    /// items.
    func permissionRows(of rows: [RowHandle], where isWanted: (OpenedRow) -> Bool = { _ in true }) throws -> [RowHandle] {
        guard try !rights().ownsEverything else { return [] }
        let items = rows.compactMap { try? RowBinding(derBytes: $0.metadataBinding).item }
        var found: [RowHandle] = []
        // Beyond this number, reading all permissions once is faster.
        guard items.count <= KeychainLimits.permissionLookupsMax else {
            let wanted = Set(items)
            try forEachKept { if let item = $0.permittedItem, wanted.contains(item), isWanted($0) { found.append($0.row.handle) } }
            return found
        }
        for item in items {
            let attributes = ItemAttributes([.accessGroup: .text(AccessGroup.permissions), .account: .data(item)])
            try forEachKept(attributes) { if isWanted($0) { found.append($0.row.handle) } }
        }
        return found
    }

    /// Returns the user's permissions to read these items. They end when the items are renamed: the user consented to the name in the
    /// prompt, and an owner must not be able to pass its item off as another one.
    func permissionsToRead(_ items: [RowHandle]) throws -> [RowHandle] {
        guard !items.isEmpty else { return [] }
        return try permissionRows(of: items) { $0.offeringGroup == nil && ["reads", "answered"].contains($0.permission?.word) }
    }

    // MARK: Builds of the user's own programs

    /// Returns the application that a program with the identifier `own` counts as. When a new build appears at a path where another build
    /// stored items, the user is prompted once whether it is a new build of that program.
    func application(of identity: CallerIdentity, as own: ApplicationIdentifier?, mayPrompt: Bool) throws -> ApplicationIdentifier? {
        guard let own else { return nil }
        guard identity.standing == .own, let path = identity.executable?.path else { return own }
        if case .text(let group)? = try objects("same \(own.text)").last { return ApplicationIdentifier(text: group) }
        let known = try objects("program \(path)").compactMap { if case .text(let group) = $0 { group } else { nil } }
        guard !known.containsBytes(of: own.text), let before = try known.last(where: { try !isRefusedBuild($0) }) else { return own }
        guard try !isAcceptedBuild(at: path) else {
            try keep(.sameProgram(before), for: own.text)
            return ApplicationIdentifier(text: before)
        }
        guard mayPrompt else { throw Refusal(.interactionNotAllowed, "The program is a new build, which the user has not accepted yet") }
        do {
            try ask(Consent(.acceptBuild, offered: .once, program: path))
            try keep(.sameProgram(before), for: own.text)
            return ApplicationIdentifier(text: before)
        } catch let refusal as Refusal where refusal.reason == .cancelled && refusal.detail == nil {
            // If the user refuses, the build counts as another program for good, and the user is not prompted again.
            try keep(.sameProgram(own.text), for: own.text)
            return own
        }
    }

    /// Returns whether the user refused a build as a new one of its predecessor. It then counts as itself, and no later build continues it.
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

    /// Records the path of a user's own program when it first stores an item. Only the most recent builds at a path are kept.
    func keepProgram() throws {
        guard let identity = caller.identity, identity.standing == .own, let path = identity.executable?.path, let group = try rights().key,
            !countsAsSigned
        else { return }
        // Refused builds must not displace the accepted one.
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

    /// The group that made the offer; nil for the user's own permissions.
    var offeringGroup: String? { if case .text(let group)? = record.attributes[.label] { group } else { nil } }

    /// The word of a permission and its subject.
    var permission: (word: String, subject: String)? {
        guard case .text(let text)? = record.attributes[.service] else { return nil }
        let parts = text.utf8.split(separator: 0x20, maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        return (String(decoding: parts[0], as: UTF8.self), String(decoding: parts[1], as: UTF8.self))
    }
}
