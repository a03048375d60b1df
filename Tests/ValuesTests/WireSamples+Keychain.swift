// Samples of the messages of keychaind.

import VaubanAccessPolicy
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanLogHead
import VaubanRefusal
import VaubanSyncModel
import VaubanUserModel

extension WireSample {
    private static let report: DoctorReport = {
        var report = DoctorReport()
        report.rows = .max
        report.checked = 5
        report.unopened = 1
        report.locked = 2
        for reason in DoctorFinding.Reason.allCases {
            report.take(DoctorFinding(reason, row: 7, protection: 12, isRepaired: reason == .lookups))
        }
        report.quarantine = [DoctorReport.Quarantined(reason: .secret, count: 3, since: -1)]
        report.copy = DoctorReport.Copy(.kept, date: 1, rows: 5)
        return report
    }()

    private static let reportWithoutRoom: DoctorReport = {
        var report = DoctorReport()
        report.copy = DoctorReport.Copy(.noRoom, bytesMissing: .max)
        report.earlier = DoctorReport.Earlier(date: .min, rows: .max)
        return report
    }()

    private static let backupItem = BackupItem(
        binding: octets(1, 90), wrapped: octets(2, 60), attributes: octets(3, 92), head: octets(4, BackupItem.headBytes))

    private static let allParts = PartDigests(Dictionary(uniqueKeysWithValues: ItemPart.allCases.map { ($0, UInt64($0.rawValue) << 32) }))
    private static func mergedItem(_ content: MergedItem.Content, contested: [ItemPart]?) -> MergedItem {
        MergedItem(
            content: content, mark: octets(1, 16), item: octets(2, 16), changed: .min, parts: PartDigests([.value: .max, .comment: 1]),
            contested: contested)
    }

    static let circleView = CircleView(
        device: octets(1, 16), circle: nil, number: 0, digest: octets(0, 32), epoch: 0, members: [])
    static let someNames = BlindedNames([octets(1, 16), octets(2, 16)]) ?? .empty
    static let companionReply = CircleReply(
        CircleView(
            device: octets(1, 16), circle: octets(2, 16), number: 2, digest: octets(3, 32), epoch: 1,
            members: [CircleMember(device: octets(1, 16), name: "laptop", verification: octets(4, 32))],
            companions: [
                CircleCompanion(device: CircleMember(device: octets(5, 16), name: "pi", verification: octets(6, 32)), names: someNames)
            ], isCompanion: true))
    static let tokenReply = CircleReply(
        CircleView(
            device: octets(1, 16), circle: octets(2, 16), number: 2, digest: octets(3, 32), epoch: 1,
            members: [CircleMember(device: octets(1, 16), name: "laptop", verification: octets(4, 32))],
            tokens: [OpenToken(verification: octets(7, 32), name: "ci", expires: -1, itemCount: 100)]),
        document: [1])
    static let recoveryReply = CircleReply(
        CircleView(
            device: octets(1, 16), circle: octets(2, 16), number: 2, digest: octets(3, 32), epoch: 1,
            members: [CircleMember(device: octets(1, 16), name: "laptop", verification: octets(4, 32))], hasRecoveryKey: true,
            recovered: [octets(1, 16)]))
    static let waitingReply = CircleReply(
        CircleView(
            device: octets(1, 16), circle: nil, number: 0, digest: octets(0, 32), epoch: 0, members: [],
            sponsor: CircleMember(device: octets(1, 16), name: "desk", verification: octets(4, 32))))
    static let circleReply = CircleReply(
        CircleView(
            device: octets(1, 16), circle: octets(2, 16), number: CircleRequest.numberMax, digest: octets(3, 32), epoch: 64,
            members: [CircleMember(device: octets(1, 16), name: "laptop", verification: octets(4, 32))]),
        document: [2], code: "123 456")

    static let keychain: [WireSample] =
        [
            KeychainRequest.add(record, returns: [.data, .attributes], hasData: true),
            .add(ItemRecord(kind: .internetPassword, attributes: ItemAttributes()), returns: [], hasData: false), .copyMatching(query),
            .copyMatching(ItemQuery(kind: .genericPassword)),
            .update(query, ItemChanges(attributes: attributes, protection: .afterFirstUnlock, accessControl: control, hasData: true)),
            .update(query, ItemChanges(attributes: ItemAttributes())), .delete(query),
            .add(record, returns: [], hasData: true, passwordBytes: 1024), .copyMatching(query, passwordBytes: 1),
            .update(query, ItemChanges(attributes: ItemAttributes()), passwordBytes: 20), .rewrap, .discard, .examine,
            .restore(copyOf: nil), .restore(copyOf: .min), .handOver, .ownRights, .accessLog(AccessLogQuery()),
            .accessLog(AccessLogQuery(before: 7, coversAllOwners: true, verifies: true)),
            .sharedPassword(SharedPasswordRequest(.save, site: "example.com:8443", account: "anna")),
            .sharedPassword(SharedPasswordRequest(.pick, site: "", account: "")),
            .transfer(query, attributes, keepsOriginal: true), .transfer(query, ItemAttributes(), keepsOriginal: false),
            .delete(query, atOnce: true), .history(.list(query)), .history(.value(query, number: 1), passwordBytes: 1024),
            .history(.undo(query, number: 10)), .history(.deleted(ofAllOwners: false)), .history(.undelete(octets(1, 16))),
            .history(.purge(octets(2, 16))), .history(.clear(nil)), .history(.clear(query)), .history(.setting(nil)),
            .history(.setting(true)), .backup(.begin(keybag: nil, restores: false), passwordBytes: 20),
            .backup(.begin(keybag: [1, 2, 3], restores: true)),
            .backup(.begin(keybag: nil, restores: false, recipient: octets(3, 1216))),
            .backup(.begin(keybag: [1, 2, 3], restores: true, passwordIsRestoreKey: true), passwordBytes: 32),
            .backup(.list(after: 0)), .backup(.copy([1, .max])),
            .backup(.copy([])), .backup(.restore(backupItem)), .backup(.deleted([])),
            .backup(.deleted([octets(1, 16), octets(2, 16)])), .backup(.run(isNext: false)), .backup(.run(isNext: true)),
            .sync(.list), .sync(.listItems([])),
            .sync(.listItems([octets(1, 16), octets(2, 16)])), .sync(.copy([])), .sync(.copy([1, .max])),
            .sync(.circle(.begin(name: "laptop"))), .sync(.circle(.apply(name: "laptop"))),
            .sync(.circle(.answer(commitment: [1]))), .sync(.circle(.reveal(answer: [1]))),
            .sync(.circle(.approve(reveal: [1], code: "123 456"))),
            .sync(.circle(.enter(statement: [1], code: "123 456"))),
            .sync(.circle(.remove(device: octets(1, 16)))), .sync(.circle(.follow(statement: [1]))),
            .sync(.circle(.view)), .sync(.circle(.sign(digest: octets(1, 32)))),
            .sync(.put(backupItem, epoch: 64, name: octets(1, 16), replacing: nil)),
            .sync(.put(backupItem, epoch: 1, name: octets(1, 16), replacing: octets(2, 16), keepsReplaced: true)),
            .sync(
                .put(
                    backupItem, epoch: 1, name: octets(1, 16), replacing: octets(2, 16),
                    merging: PartMerge(common: [PartDigests([:])], receivedWins: false))),
            .sync(
                .put(
                    backupItem, epoch: 1, name: octets(1, 16), replacing: nil,
                    merging: PartMerge(common: [allParts, PartDigests([:])], own: [allParts], receivedWins: true))),
            .sync(.parts([])), .sync(.parts([1, .max])),
            .sync(.putNew([SyncedItem(item: backupItem, epoch: 1, name: octets(1, 16), restBytes: 0)])),
            .sync(.putNew([SyncedItem(item: backupItem, epoch: 64, name: octets(1, 16), restBytes: 1 << 20)])),
            .sync(.delete(item: octets(1, 16), mark: octets(2, 16))), .sync(.itemStatuses([])),
            .sync(
                .itemStatuses([ItemStatusQuery(item: octets(1, 16), changed: .min), ItemStatusQuery(item: octets(2, 16), changed: .max)])),
            .sync(.circle(.leave)), .sync(.circle(.redeem(token: [1]))), .sync(.circle(.findByRecoveryKey(statement: [1]))),
            .sync(.companion(.makeToken(name: "ci", seconds: 60), rows: [1])),
            .sync(.companion(.admit(reveal: [1], code: "123 456"), rows: [])), .sync(.companion(.allow(device: octets(1, 16)), rows: [1])),
            .sync(.companion(.disallow(device: octets(1, 16)), rows: [1, .max])), .sync(.copyForCompanion(device: octets(1, 16), [1])),
            .logHead(LogHeadQuery()), .logHead(LogHeadQuery(LogHeadRequest(cosigning: [1]), at: 1 << 48)),
            .lastUses(of: octets(1, 16)), .canary(.mark(query, isCanary: true)), .canary(.mark(query, isCanary: false)), .canary(.list),
            .canary(.alerts(after: nil)), .canary(.alerts(after: .max)), .canary(.acknowledge(total: 7)),
            .sync(.changes(since: nil)), .sync(.changes(since: .max)),
        ].enumerated().map { WireSample("\($0)", $1) }
        + [
            KeychainReply.refused(refusal), .done, .handedOver, .ownRights(application: nil, groups: []),
            .ownRights(application: "program:/usr/bin/mail", groups: ["mail", "family"]), .keepsHistory(false), .cleared(0),
            .version(ItemVersion(replaced: .max, record: record)),
            .version(
                ItemVersion(
                    replaced: .min, record: ItemRecord(kind: .internetPassword, attributes: ItemAttributes(), protection: .always))),
            .deleted(DeletedItem(item: octets(3, 16), deleted: -1, record: record)),
            .items([FoundItem(record: record, hasData: true), FoundItem(record: nil, hasData: false)]), .items([]),
            .accessLog(AccessLogPage(oldest: 0, faults: [], records: [])),
            .accessLog(
                AccessLogPage(
                    oldest: 1,
                    faults: [
                        AccessLogFault(.replaced, number: 2), AccessLogFault(.missingAtEnd, number: 1 << 48),
                        AccessLogFault(.unreadable, number: 3, last: 9), AccessLogFault(.otherNumbers, number: 0),
                    ],
                    records: [FoundRecord(number: 2, record: accessRecord), FoundRecord(number: 1, isHidden: true, record: nil)])),
            .waitingForUser("pts/3"), .queued, .rewrapped(RewrapProgress(done: 256, left: 0, kept: .max)), .examined(report),
            .examined(DoctorReport()), .examined(reportWithoutRoom),
            .restorable(RestorableCopy(date: -1, rows: .max, damagedSince: nil)),
            .restorable(RestorableCopy(date: 1, rows: 0, damagedSince: .max)), .backup(.begun(keybag: [1, 2, 3])), .backup(.rows([])),
            .backup(.rows([BackupRow(row: 1, item: octets(1, 16), mark: octets(2, 16))])), .backup(.item(row: .max, backupItem)),
            .backup(.omitted(row: 1, name: "bank/anna", .accessControl)), .backup(.restored(name: "", .otherDevice)),
            .backup(.deleted([])), .backup(.deleted([octets(1, 16)])), .backup(.run(database: 0, number: .max)),
            .sync(.circle(circleReply)), .sync(.circle(tokenReply)), .sync(.rows([])),
            .sync(
                .rows([
                    SyncRow(row: 1, name: nil, mark: octets(1, 16), item: octets(3, 16), changed: .min, shownName: ""),
                    SyncRow(
                        row: .max, name: octets(2, 16), mark: octets(1, 16), item: octets(3, 16), changed: .max, shownName: "bank/anna"),
                ])), .sync(.item(row: 1, mark: octets(1, 16), backupItem, parts: nil)),
            .sync(.item(row: 1, mark: octets(1, 16), backupItem, parts: allParts)), .sync(.omitted(row: 1)), .sync(.outcome(.deleted)),
            .sync(.outcome(.placed(mark: octets(1, 16), item: octets(2, 16), changed: .max, parts: nil))),
            .sync(.outcome(.placed(mark: octets(1, 16), item: octets(2, 16), changed: .min, parts: allParts))),
            .sync(.outcome(.merged(mergedItem(.both, contested: ItemPart.allCases)))),
            .sync(.outcome(.merged(mergedItem(.here, contested: [])))),
            .sync(.outcome(.merged(mergedItem(.received, contested: nil)))), .sync(.parts(row: .max, mark: octets(1, 16), allParts)),
            .sync(.outcome(.changedMeanwhile)),
            .sync(.outcome(.nameTaken)), .sync(.itemStatuses(ItemStatus.allCases)), .sync(.listed(number: .max)),
            .sync(.changes(number: .max, items: nil)),
            .sync(.changes(number: 0, items: [])), .sync(.changes(number: 1, items: [octets(1, 16), octets(2, 16)])),
            .logHead(LogHeadReply(head: signedHead, oldest: 0, chain: nil)),
            .logHead(LogHeadReply(head: signedHead, oldest: 1 << 48, chain: octets(2, 32))),
            .lastUses(LastUses(read: nil, changed: nil, coversAll: false)),
            .lastUses(
                LastUses(
                    read: FoundRecord(number: 2, record: canaryRecord), changed: FoundRecord(number: 1, record: accessRecord),
                    coversAll: true)),
            .lastUses(LastUses(read: nil, changed: nil, keyUsed: FoundRecord(number: 3, record: signedRecord), coversAll: true)),
            .canaryAlerts(CanaryAlerts(total: 0, seen: 0, from: nil)), .canaryAlerts(CanaryAlerts(total: .max, seen: 1, from: 1 << 48)),
            .refused(Refusal(.itemNotFound, "The item has 2 earlier secrets", earlierValues: 2)),
        ].enumerated().map { WireSample("\($0)", $1) }
}
