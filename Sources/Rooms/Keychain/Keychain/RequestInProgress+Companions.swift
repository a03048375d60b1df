// The items that the companions of a circle receive (Specs/sync.md, "A companion"). The command line selects rows; the names for the list
// and for the prompt are read from the rows, so no program can have the user approve one item and get another.

internal import KeychainStore
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanPlainText
internal import VaubanRefusal
internal import VaubanSyncModel

extension RequestInProgress {
    /// Returns the request to the enclave that changes what a companion receives, with the items' names for the list and for the prompt.
    func companionRequest(_ change: SyncRequest.CompanionChange, _ rows: [Int64]) throws -> CircleRequest {
        let key = try memberNameKey()
        if case .disallow(let device) = change, rows.isEmpty { return try disallowingGone(device, key) }
        let own = try rights()
        var (names, shown): ([[UInt8]], [String]) = ([], [])
        for id in rows {
            guard let row = try database.row(id), let opened = try open(row), opened.record.isSynchronizable, opened.maySynchronize,
                own.owns(opened.record.accessGroup)
            else {
                throw Refusal(
                    .itemNotFound,
                    "One of these items is gone, is not synchronizable, or belongs to another program; vauban list shows yours"
                )
            }
            names.append(Self.name(of: opened.record, key))
            shown.append("“\(PlainLine.bothEnds(opened.record.shownName, bytesMax: KeychainLimits.shownItemNameBytesMax))”")
        }
        let text = shown.isEmpty ? "none yet" : shown.joined(separator: ", ")
        // The user who approves must see each item, so invisible characters in its name are written out.
        let isShownWhole =
            text.utf8.count <= CircleRequest.shownBytesMax
            && PlainLine.name(text, charactersMax: .max).unicodeScalars.count <= KeychainLimits.shownItemsCharactersMax
        guard shown.count <= 1 || isShownWhole, let list = BlindedNames(names) else {
            throw Refusal(.badParameter, "A prompt cannot show this many items; name fewer now, and the others with vauban sync allow")
        }
        return switch change {
        case .admit(let reveal, let code): .admitCompanion(reveal: reveal, code: code, list, shown: text)
        case .allow(let device): .allow(device: device, list, shown: text)
        case .disallow(let device): .disallow(device: device, list, shown: text)
        case .makeToken(let name, let seconds): .makeToken(name: name, seconds: seconds, list, shown: text)
        }
    }
    /// Returns the request that removes from a companion's list each name that no synchronizable item here has.
    private func disallowingGone(_ device: [UInt8], _ key: IndexKey) throws -> CircleRequest {
        let view = try enclave.circle(.view, secret: nil).reply.view
        guard let companion = view.companions.first(where: { $0.device.device == device }) else {
            throw Refusal(.badParameter, "No such companion in the circle; vauban sync status lists them")
        }
        var gone = Set(companion.names.all)
        try forEachSynchronizable { _, opened in
            if opened.maySynchronize { gone.remove(Self.name(of: opened.record, key)) }
        }
        guard !gone.isEmpty, let list = BlindedNames(gone) else {
            throw Refusal(.itemNotFound, "Each name on the companion's list has an item here")
        }
        // The blinded names of items that no longer exist cannot be read, so the prompt shows their number.
        return .disallow(device: device, list, shown: "\(gone.count) \(gone.count == 1 ? "name" : "names") without an item on this device")
    }
}
