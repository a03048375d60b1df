// Requests that the user refused in a prompt before anything was searched. The item is known only in the caller's words, and nothing may
// be searched before the reply, because the time of the reply would reveal the result. So the item is looked up afterwards, on the thread
// that writes the log, and only among canaries.

internal import KeychainStore
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanPlainText

/// What a prompt is about.
enum PromptSubject {
    /// An item that was found.
    case item(OpenedRow)
    /// An item that nobody has searched for yet, as the caller describes it.
    case words(SearchTerms)
    case other
}

/// A refused use of whatever item matches the terms.
struct RefusedRequest: Sendable {
    let use: AccessUse
    let terms: SearchTerms

    fileprivate func isAbout(_ record: ItemRecord, item: [UInt8]) -> Bool {
        terms.kind == record.kind && terms.match(record.attributes) && terms.reference.map { $0 == item } ?? true
    }
}

/// The refused requests that are still to be looked up.
final class RefusedRequests: Sendable {
    private struct Kept {
        var requests: [RefusedRequest] = []
        var bytes = 0
    }

    private let requests = ThreadMutex<[UInt32: Kept]>([:])

    /// Keeps a request. Returns false if there is no room.
    func add(_ request: RefusedRequest, of user: UInt32) -> Bool {
        let bytes = request.terms.attributes.reduce(0) { $0 + $1.value.contentBytes }
        return requests.withLock { requests in
            let before = requests[user].map { ($0.requests.count, $0.bytes) } ?? (0, 0)
            guard before.0 < KeychainLimits.refusedRequestsMax, before.1 + bytes <= KeychainLimits.refusedBytesMax else { return false }
            requests[user, default: Kept()].requests.append(request)
            requests[user]?.bytes += bytes
            return true
        }
    }

    func has(of user: UInt32) -> Bool { requests.withLock { $0[user] != nil } }

    func take(of user: UInt32) -> [RefusedRequest] { requests.withLock { $0.removeValue(forKey: user)?.requests ?? [] } }
}

extension ItemNames {
    /// Returns the uses of the requests. Requests about a canary become uses of that item. Nothing is known about locked rows.
    func uses(of requests: [RefusedRequest], user: UInt32, in database: KeychainDatabase) -> [AccessUse] {
        var uses = requests.map(\.use)
        for kind in [ItemKind.genericPassword, .internetPassword] {
            let wanted = requests.indices.filter { requests[$0].terms.kind == kind }
            guard !wanted.isEmpty else { continue }
            let owners = wanted.compactMap { requests[$0].terms.namedGroup }
            forEachRow(of: kind, in: database) { row in
                // The owner is readable without a key: only rows of these owners are decrypted.
                guard let owner = UsedItem(unopened: row.handle)?.owner,
                    owners.contains(where: { UsedItem.clipped($0).isSameBytes(as: owner) }),
                    let (record, isCanary) = content(of: row, user: user), isCanary
                else { return }
                for index in wanted where requests[index].isAbout(record, item: row.item) {
                    uses[index].item = UsedItem(record, item: row.item, isCanary: true)
                }
            }
        }
        return uses
    }

    private func forEachRow(of kind: ItemKind, in database: KeychainDatabase, _ body: (StoredRow) -> Void) {
        let all = RowSelection(kind: kind.rawValue, protection: nil, lookup: nil, filter: [], usesDeviceIndex: false)
        var last: Int64 = 0
        while let rows = try? database.rows(
            of: all, after: last, count: KeychainLimits.batchRowsMax, bytesMax: KeychainLimits.batchBytesMax), let end = rows.last?.id
        {
            rows.forEach(body)
            last = end
        }
    }
}

extension AccessLogs {
    /// Notes refused requests, once it is known whether they are about canaries. Does not write them if it may not wait for the log.
    func noteRefused(of user: UInt32, in log: AccessLog, _ database: KeychainDatabase, mayWait: Bool = true) {
        let requests = refused.take(of: user)
        guard !requests.isEmpty else { return }
        var isAlert = false
        for use in itemNames?.uses(of: requests, user: user, in: database) ?? requests.map(\.use) {
            log.note(use)
            if mayWait { log.flushIfFull(to: database) }
            guard use.isAlert else { continue }
            canaryJournal.add(use, of: user)
            isAlert = true
        }
        guard isAlert else { return }
        canaryJournal.report()
        alertWaiters.wake(of: user)
    }
}
