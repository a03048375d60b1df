internal import FuzzFinding
internal import SwiftASN1
internal import VaubanAccessPolicy
internal import VaubanDER
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanSyncModel

/// A fuzzer of messages to keychaind's socket: a message is decoded within the limits or refused with a message, and a decoded value
/// encodes to the same bytes.
package enum KeychainSocketFuzzing {
    /// Returns the number of message types that can be decoded from the input.
    @discardableResult package static func run(_ input: [UInt8]) throws -> Int {
        var count = 0
        if let request = try read(input, as: KeychainRequest.self) {
            count += 1
            try keepsLimits(request)
        }
        if let reply = try read(input, as: KeychainReply.self) {
            count += 1
            try keepsLimits(reply)
        }
        if try read(input, as: ItemRecord.self) != nil { count += 1 }
        if let query = try read(input, as: ItemQuery.self) {
            count += 1
            try keepsLimits(query)
        }
        if try read(input, as: ItemAttributes.self) != nil { count += 1 }
        if try read(input, as: AccessControl.self) != nil { count += 1 }
        return count
    }

    private static func read<Value: DERReadable & DERWritable & Equatable>(_ input: [UInt8], as type: Value.Type) throws -> Value? {
        guard let value = try? Value(derBytes: input) else { return nil }
        let bytes = try value.encoded()
        guard let again = try? Value(derBytes: bytes) else {
            throw Finding("\(type) cannot be decoded from its encoding")
        }
        try require(again == value, "\(type) does not decode to the encoded value")
        try require((try? DER.parse(input)) != nil, "\(type) is decoded from what swift-asn1 refuses")
        // Strict DER has one encoding for each value: a second one could pass as a different message.
        try require(bytes == input, "\(type) has two encodings")
        return value
    }

    private static func keepsLimits(_ request: KeychainRequest) throws {
        switch request {
        case .add(let record, _, _, let count, let applications):
            try keepsLimits(record.attributes, count)
            try require(applications.count <= KeychainRequest.applicationsMax, "too many applications")
        case .copyMatching(let query, let count): try keepsLimits(query.attributes, count)
        case .update(let query, let changes, let count):
            try keepsLimits(query.attributes, count)
            try keepsLimits(changes.attributes, count)
        case .delete(let query, _): try keepsLimits(query)
        case .history(let history, let count):
            try require((1...KeychainRequest.passwordBytesMax).contains(count ?? 1), "a password of \(count ?? 0) bytes")
            switch history {
            case .list(let query), .clear(let query?): try keepsLimits(query)
            case .value(let query, let number), .undo(let query, let number):
                try keepsLimits(query)
                try require((1...10).contains(number), "earlier value \(number)")
            case .deleted, .undelete, .purge, .clear(nil), .setting: break
            }
        case .move(let owner): try require(owner.utf8.count <= 512, "the owner is too long")
        case .transfer(let query, let attributes, _):
            try keepsLimits(query)
            try keepsLimits(attributes, nil)
        case .backup(let backup, let count):
            try require((1...KeychainRequest.passwordBytesMax).contains(count ?? 1), "a password of \(count ?? 0) bytes")
            switch backup {
            case .begin(let keybag, _, let recipient, _):
                try require((keybag?.count ?? 0) <= BackupRequest.keybagBytesMax, "the keybag is too long")
                try require(recipient == nil || recipient?.count == BackupRequest.recipientBytes, "no size of a recipient")
            case .copy(let rows): try require(rows.count <= BackupRequest.rowsMax, "too many rows")
            case .restore(let item): try require(item.head.count == BackupItem.headBytes, "a head of \(item.head.count) bytes")
            case .deleted(let items):
                try require(items.count <= BackupRequest.rowsMax && items.allSatisfy { $0.count == 16 }, "no list of items")
            case .list, .run: break
            }
        case .sync(let sync):
            switch sync {
            case .copy(let rows): try require(rows.count <= SyncRequest.rowsMax, "too many rows")
            case .parts(let rows): try require(rows.count <= SyncRequest.rowsMax, "too many rows")
            case .put(let item, _, let name, _, let merge, _):
                try require((1...SyncedVersion.countMax).contains(merge?.common.count ?? 1), "no number of versions")
                try require(merge?.common.first?.bytes.count ?? 0 <= PartDigests.bytesMax, "too many parts")
                try require(item.head.count == BackupItem.headBytes, "a head of \(item.head.count) bytes")
                try require(name.count == SyncRequest.nameBytes, "a name of \(name.count) bytes")
            case .putNew(let items):
                try require((1...SyncedItem.countMax).contains(items.count), "no number of items")
                for item in items { try require((0...1 << 20).contains(item.restBytes), "a rest of \(item.restBytes) bytes") }
            case .listItems(let items): try require(items.count <= SyncRequest.changedItemsMax, "too many items")
            case .itemStatuses(let items): try require(items.count <= SyncRequest.rowsMax, "too many items")
            case .companion(_, let rows): try require(rows.count <= BlindedNames.countMax, "too many rows")
            case .copyForCompanion(_, let rows): try require(rows.count <= SyncRequest.rowsMax, "too many rows")
            case .changes(let number): try require(number ?? 0 >= 0, "a number below 0")
            case .list, .delete, .circle: break
            }
        case .lastUses(let item): try require(item.count == 16, "an item of another length")
        case .logHead(let query): try require(query.at ?? 1 > 0, "a record without a number")
        case .canary(.mark(let query, _)): try keepsLimits(query)
        case .rewrap, .discard, .permissions, .permit, .examine, .restore, .handOver, .ownRights, .sharedPassword, .accessLog, .canary:
            break
        }
    }

    private static func keepsLimits(_ query: ItemQuery) throws {
        try keepsLimits(query.attributes, nil)
        try require(query.operationPrompt?.utf8.count ?? 0 <= 1024, "the prompt is too long")
    }

    private static func keepsLimits(_ attributes: ItemAttributes, _ passwordBytes: Int?) throws {
        try require(attributes.count <= 128, "too many attributes")
        try require((1...KeychainRequest.passwordBytesMax).contains(passwordBytes ?? 1), "a password of \(passwordBytes ?? 0) bytes")
    }

    private static func keepsLimits(_ reply: KeychainReply) throws {
        switch reply {
        case .items(let items): try require(items.count <= KeychainReply.itemsMax, "too many items")
        case .permissions(let permissions): try require(permissions.count <= KeychainReply.permissionsMax, "too many permissions")
        case .examined(let report): try require(report.findings.count <= DoctorReport.findingsMax, "too many findings")
        case .version(let version): try keepsLimits(version.record.attributes, nil)
        case .accessLog(let page): try require(page.records.count <= AccessLogPage.recordsMax, "too many records")
        case .ownRights(_, let groups): try require(groups.count <= KeychainReply.groupsMax, "too many groups")
        case .backup(.rows(let rows)): try require(rows.count <= BackupRequest.rowsMax, "too many rows")
        case .sync(.rows(let rows)): try require(rows.count <= SyncReply.rowsMax, "too many rows")
        case .refused, .done, .waitingForUser, .queued, .rewrapped, .restorable, .handedOver, .deleted, .keepsHistory, .cleared, .backup,
            .sync, .lastUses, .logHead, .canaryAlerts:
            break
        }
    }
}
