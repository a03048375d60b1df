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

/// Refused requests of one user while they are looked up, which may take several turns of the thread.
struct RefusedLookUp: Sendable {
    let requests: [RefusedRequest]
    /// The uses of the requests, as far as they are known.
    fileprivate(set) var uses: [AccessUse]
    /// The classes whose rows are still to be read, and the last row of the first of these that was read.
    fileprivate var kinds: [ItemKind] = [.genericPassword, .internetPassword]
    fileprivate var last: Int64 = 0

    fileprivate init(_ requests: [RefusedRequest]) {
        self.requests = requests
        uses = requests.map(\.use)
    }
}

/// The refused requests that are still to be looked up.
final class RefusedRequests: Sendable {
    private struct Kept {
        var requests: [RefusedRequest] = []
        var bytes = 0
    }

    private let requests = ThreadMutex<[UInt32: Kept]>([:])
    /// Only the thread that writes the logs leaves any.
    private let unfinished = ThreadMutex<[UInt32: RefusedLookUp]>([:])

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

    func has(of user: UInt32) -> Bool { isUnfinished(of: user) || requests.withLock { $0[user] != nil } }

    /// Whether the last turn did not read all rows.
    func isUnfinished(of user: UInt32) -> Bool { unfinished.withLock { $0[user] != nil } }

    /// Returns the look-up that an earlier turn left unfinished, otherwise one of the requests that were added since; nil if there is
    /// none.
    func take(of user: UInt32) -> RefusedLookUp? {
        if let lookUp = unfinished.withLock({ $0.removeValue(forKey: user) }) { return lookUp }
        return requests.withLock { $0.removeValue(forKey: user) }.map { RefusedLookUp($0.requests) }
    }

    func putBack(_ lookUp: RefusedLookUp, of user: UInt32) { unfinished.withLock { $0[user] = lookUp } }
}

extension ItemNames {
    /// Compares the requests with the next rows, about as many as `rowsLeft`, and reduces that by their number. Requests about a canary
    /// become uses of that item. Nothing is known about locked rows. Returns whether all rows have been read.
    fileprivate func proceed(_ lookUp: inout RefusedLookUp, rowsLeft: inout Int, user: UInt32, in database: KeychainDatabase) -> Bool {
        while let kind = lookUp.kinds.first {
            let requests = lookUp.requests
            let wanted = requests.indices.filter { requests[$0].terms.kind == kind }
            let owners = wanted.compactMap { requests[$0].terms.namedGroup }
            while !wanted.isEmpty, let rows = nextRows(of: kind, after: lookUp.last, in: database), let end = rows.last?.id {
                for row in rows {
                    // The owner is readable without a key: only rows of these owners are decrypted.
                    guard let owner = UsedItem(unopened: row.handle)?.owner,
                        owners.contains(where: { UsedItem.clipped($0).isSameBytes(as: owner) }),
                        let (record, isCanary) = content(of: row, user: user), isCanary
                    else { continue }
                    for index in wanted where requests[index].isAbout(record, item: row.item) {
                        lookUp.uses[index].item = UsedItem(record, item: row.item, isCanary: true)
                    }
                }
                lookUp.last = end
                rowsLeft -= rows.count
                if rowsLeft <= 0 { return false }
            }
            lookUp.kinds.removeFirst()
            lookUp.last = 0
        }
        return true
    }

    private func nextRows(of kind: ItemKind, after last: Int64, in database: KeychainDatabase) -> [StoredRow]? {
        let all = RowSelection(kind: kind.rawValue, protection: nil, lookup: nil, filter: [], usesDeviceIndex: false)
        return try? database.rows(of: all, after: last, count: KeychainLimits.batchRowsMax, bytesMax: KeychainLimits.batchBytesMax)
    }
}

extension AccessLogs {
    /// Notes refused requests, once it is known whether they are about canaries. Reads about `rowsMax` rows for that, and leaves the rest
    /// to a later call. Does not write them if it may not wait for the log.
    func noteRefused(of user: UInt32, in log: AccessLog, _ database: KeychainDatabase, mayWait: Bool = true, rowsMax: Int = .max) {
        var rowsLeft = rowsMax
        var isAlert = false
        // The look-up that an earlier turn left, and the requests that were added since.
        for _ in 0..<2 {
            guard rowsLeft > 0, var lookUp = refused.take(of: user) else { break }
            if let itemNames, !itemNames.proceed(&lookUp, rowsLeft: &rowsLeft, user: user, in: database) {
                refused.putBack(lookUp, of: user)
                break
            }
            for use in lookUp.uses {
                log.note(use)
                if mayWait { log.flushIfFull(to: database) }
                guard use.isAlert else { continue }
                canaryJournal.add(use, of: user)
                isAlert = true
            }
        }
        guard isAlert else { return }
        canaryJournal.report()
        alertWaiters.wake(of: user)
    }
}
