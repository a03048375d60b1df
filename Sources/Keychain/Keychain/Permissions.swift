// What the person has let happen for good. It is kept as rows of a kind of its own, so that it is encrypted, bound and
// found as items are; in class C and on this device only, since it is looked at while locked.

internal import EnclaveWire
internal import KeychainStore
internal import VaubanAccessPolicy
internal import VaubanDER
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanSecretBytes

/// One permission as a row names it: a subject, and what it is let do.
enum KeptPermission: Hashable {
    /// The subject, an application or an interpreter, reads an item.
    case reads([UInt8])
    /// The subject, a build, is the same program as that of a group.
    case sameProgram(String)
    /// The subject, a path, is where the program of a group was.
    case program(String)
    /// New builds in the subject, a folder, are accepted.
    case buildsIn

    private static let separator: Character = " "

    /// The word before the subject, so that one look-up finds all of one subject.
    var word: String {
        switch self {
        case .reads: "reads"
        case .sameProgram: "same"
        case .program: "program"
        case .buildsIn: "builds"
        }
    }

    var object: AttributeValue {
        switch self {
        case .reads(let item): .data(item)
        case .sameProgram(let group), .program(let group): .text(group)
        case .buildsIn: .text("")
        }
    }
}

extension RequestInProgress {
    /// Keeps a permission; one that is kept already stays. What a program permits and not the person is kept with the name of
    /// its group.
    func keep(_ permission: KeptPermission, for subject: String, by group: String? = nil) throws {
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

    /// The rows of a subject, or of all.
    func keptRows(_ subject: String?) throws -> [OpenedRow] {
        var attributes = ItemAttributes([.accessGroup: .text(AccessGroup.permissions)])
        if let subject { attributes[.service] = .text(subject) }
        return try keptRows(attributes)
    }

    /// The rows with all of these attributes; none before the first unlock, when nothing can be found.
    private func keptRows(_ attributes: ItemAttributes) throws -> [OpenedRow] {
        let terms = SearchTerms(kind: .permission, attributes: attributes, protection: nil)
        let selection = try selection(terms, of: [])
        guard !selection.usesDeviceIndex else { return [] }
        var rows: [OpenedRow] = []
        try forEachRow(of: selection, batch: KeychainLimits.batchRowsMax) { row in
            if let opened = try open(row), terms.match(opened.record.attributes) { rows.append(opened) }
            return rows.count < KeychainLimits.permissionsMax
        }
        return rows
    }

    private func objects(_ subject: String) throws -> [AttributeValue] { try keptRows(subject).compactMap { $0.record.attributes[.account] } }

    /// The items that the person lets this one read.
    func itemsReadable(by key: String?) throws -> Set<[UInt8]> {
        guard let key else { return [] }
        return Set(try objects("reads \(key)").compactMap { if case .data(let item) = $0 { item } else { nil } })
    }

    /// Where programs are told apart, one that permits others to read what it keeps can do so a bounded number of times, so
    /// that it cannot fill the keychain with what stands in nobody's list of items.
    func checkGrants(_ count: Int, by group: String) throws {
        guard count > 0 else { return }
        let mine = try keptRows(ItemAttributes([.accessGroup: .text(AccessGroup.permissions), .label: .text(group)])).count
        guard mine + count <= KeychainLimits.grantsMax else {
            throw Refusal(.storageFull, "this program lets others read as many items as one may; delete some of them")
        }
    }

    /// The rows that say who may read these items, which go with them.
    func grants(of rows: [RowHandle]) throws -> [RowHandle] {
        guard try !rights().ownsEverything else { return [] }
        let items = rows.compactMap { try? RowBinding(derBytes: $0.metadataBinding).item }
        // From some number on it is quicker to look at all permissions once.
        guard items.count <= KeychainLimits.grantsLookedUpMax else {
            let wanted = Set(items.map { AttributeValue.data($0) })
            return try keptRows(nil).filter { $0.record.attributes[.account].map(wanted.contains) ?? false }.map(\.row.handle)
        }
        return try items.flatMap { item in
            try keptRows(ItemAttributes([.accessGroup: .text(AccessGroup.permissions), .account: .data(item)])).map(\.row.handle)
        }
    }

    // MARK: Builds of the person's own programs

    /// What a program is taken for. A build that was never here, at a path where another one kept items, is offered to the
    /// person once as a new build of that one.
    func application(of identity: CallerIdentity, mayAsk: Bool) throws -> ApplicationIdentifier? {
        guard let own = identity.application else { return nil }
        guard identity.standing == .own, let path = identity.executable?.path else { return own }
        if case .text(let group)? = try objects("same \(own.text)").last { return ApplicationIdentifier(text: group) }
        let known = try objects("program \(path)").compactMap { if case .text(let group) = $0 { group } else { nil } }
        guard let before = known.last, !known.contains(own.text) else { return own }
        guard try !isAcceptedBuild(at: path) else {
            try keep(.sameProgram(before), for: own.text)
            return ApplicationIdentifier(text: before)
        }
        guard mayAsk else { throw Refusal(.interactionNotAllowed, "the program is a new build, which the person has not accepted yet") }
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

    private func isAcceptedBuild(at path: String) throws -> Bool {
        var folder = path[...]
        while let slash = folder.lastIndex(of: "/"), slash > folder.startIndex {
            folder = folder[..<slash]
            if try !objects("builds \(folder)").isEmpty { return true }
        }
        return false
    }

    /// Remembers where a program of the person's own was when it first kept something.
    func keepProgram() throws {
        guard let identity = caller.identity, identity.standing == .own, let path = identity.executable?.path, let group = try rights().key else {
            return
        }
        try keep(.program(group), for: path)
    }
}
