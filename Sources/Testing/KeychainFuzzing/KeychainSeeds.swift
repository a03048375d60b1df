internal import EnclaveWire
internal import Keychain
internal import VaubanAccessPolicy
internal import VaubanDER
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanRefusal
internal import VaubanSyncModel

// First inputs, so that a fuzzer need not discover what a message or a row looks like.

extension KeychainSocketFuzzing {
    package static func seeds() throws -> [[UInt8]] {
        let control = try AccessControl(protection: .whenUnlocked, flags: [.userPresence, .applicationPassword])
        let attributes = ItemAttributes([
            .account: .text("anna"), .service: .data([0xFF]), .type: .number(-1), .creationDate: .date(1), .accessGroup: .text("cli"),
        ])
        let record = ItemRecord(kind: .genericPassword, attributes: attributes, accessControl: control)
        var query = ItemQuery(kind: .internetPassword, attributes: attributes)
        query.protection = .always
        query.limit = .count(3)
        query.returns.insert(.data)
        query.operationPrompt = "to log in"
        var report = DoctorReport()
        report.take(DoctorFinding(.secret, row: 5, protection: 6))
        report.quarantine = [DoctorReport.Quarantined(reason: .secret, count: 1, since: 0)]
        report.copy = DoctorReport.Copy(.kept, date: 1, rows: 1)
        let backupItem = BackupItem(
            binding: [1], wrapped: [UInt8](repeating: 2, count: 60), attributes: [UInt8](repeating: 3, count: 60),
            head: [UInt8](repeating: 4, count: BackupItem.headBytes))
        let requests: [KeychainRequest] = [
            .add(record, returns: [.data, .attributes], hasData: true, passwordBytes: 5, applications: ["/usr/bin/a", "program:/b"]),
            .copyMatching(query, passwordBytes: 1), .copyMatching(ItemQuery(kind: .key)),
            .update(
                query, ItemChanges(attributes: attributes, protection: .always, accessControl: control, hasData: true),
                passwordBytes: 1024),
            .delete(ItemQuery(kind: .certificate)), .rewrap, .discard, .permissions,
            .permit(PermissionChange(.buildsIn, subject: "/a", permits: true)),
            .permit(PermissionChange(.reads, subject: "program:/a", permits: false, item: query)), .move(to: "cli"), .examine,
            .restore(copyOf: nil), .restore(copyOf: -5), .delete(query, atOnce: true), .history(.list(query)),
            .history(.value(query, number: 10), passwordBytes: 3), .history(.undo(query, number: 1)), .history(.deleted(ofAllOwners: true)),
            .history(.undelete([UInt8](repeating: 7, count: 16))), .history(.purge([UInt8](repeating: 7, count: 16))),
            .history(.clear(nil)), .history(.clear(query)), .history(.setting(nil)), .history(.setting(false)),
            .backup(.begin(keybag: [1], restores: true), passwordBytes: 5),
            .backup(.begin(keybag: [1], restores: true, passwordIsRestoreKey: true), passwordBytes: 32),
            .backup(.begin(keybag: nil, restores: false, recipient: [UInt8](repeating: 7, count: BackupRequest.recipientBytes))),
            .backup(.list(after: 1)), .backup(.copy([1, 2])),
            .backup(.deleted([[UInt8](repeating: 7, count: 16)])), .backup(.run(isNext: true)),
            .backup(.restore(backupItem)), .sync(.list), .sync(.copy([1, 2])), .sync(.circle(.open)),
            .sync(.put(backupItem, epoch: 1, name: [UInt8](repeating: 5, count: 16), replacing: nil)), .sync(.parts([1])),
            .sync(
                .put(
                    backupItem, epoch: 1, name: [UInt8](repeating: 5, count: 16), replacing: [UInt8](repeating: 6, count: 16),
                    merging: PartMerge(
                        common: [PartDigests([.value: 1, .comment: 2])], own: [PartDigests([.value: 3])], receivedWins: true),
                    keepsReplaced: true)),
            .sync(.putNew([SyncedItem(item: backupItem, epoch: 1, name: [UInt8](repeating: 5, count: 16), restBytes: 4)])),
            .sync(.listItems([[UInt8](repeating: 7, count: 16)])),
            .sync(.delete(item: [UInt8](repeating: 7, count: 16), mark: [UInt8](repeating: 6, count: 16))),
            .sync(.itemStatuses([ItemStatusQuery(item: [UInt8](repeating: 7, count: 16), changed: 1)])),
            .accessLog(AccessLogQuery(before: 2, coversAllOwners: true, verifies: true)),
            .logHead(LogHeadQuery(at: 1)), .lastUses(of: [UInt8](repeating: 7, count: 16)), .canary(.mark(query, isCanary: true)),
            .canary(.list),
            .canary(.alerts(after: nil)), .canary(.acknowledge(total: 1)),
            .sync(.companion(.admit(reveal: [1], code: "123 456"), rows: [1])),
            .sync(.companion(.allow(device: [UInt8](repeating: 8, count: 16)), rows: [1, 2])),
            .sync(.copyForCompanion(device: [UInt8](repeating: 8, count: 16), [1])),
            .sharedPassword(SharedPasswordRequest(.save, site: "example.com", account: "anna")),
        ]
        let replies: [KeychainReply] = [
            .refused(Refusal(.lockedOut, "why", attemptsLeft: 1, secondsToWait: 60)), .done,
            .items([FoundItem(record: record, hasData: true)]),
            .waitingForUser("pts/3"), .rewrapped(RewrapProgress(done: 1, left: 2, kept: 3)),
            .permissions([Permission(.reads, subject: "a", object: "b")]), .examined(report),
            .restorable(RestorableCopy(date: 1, rows: 2, damagedSince: 3)),
            .version(ItemVersion(replaced: 1, record: record)),
            .deleted(DeletedItem(item: [UInt8](repeating: 7, count: 16), deleted: 5, record: record)), .keepsHistory(true), .cleared(3),
            .backup(.item(row: 1, backupItem)), .backup(.restored(name: "a", .added)),
            .backup(.deleted([[UInt8](repeating: 7, count: 16)])), .backup(.run(database: 1, number: 2)),
            .sync(.rows([])), .sync(.outcome(.changedMeanwhile)),
            .sync(.item(row: 1, mark: [UInt8](repeating: 6, count: 16), backupItem, parts: PartDigests([.value: 1]))),
            .sync(
                .outcome(
                    .merged(
                        MergedItem(
                            content: .both, mark: [UInt8](repeating: 6, count: 16), item: [UInt8](repeating: 7, count: 16), changed: 1,
                            parts: PartDigests([.value: 1]), contested: [.comment])))),
            .sync(.parts(row: 1, mark: [UInt8](repeating: 6, count: 16), PartDigests([.value: 1]))),
        ]
        return try requests.map { try $0.encoded() } + replies.map { try $0.encoded() } + [record.encoded(), query.encoded()]
    }
}

extension RowFuzzing {
    package static func seeds() throws -> [[UInt8]] {
        let attributes = ItemAttributes([
            .accessGroup: .text("cli"), .account: .text("anna"), .service: .text("mail"), .synchronizable: .number(0),
            .creationDate: .date(1),
        ])
        let plaintext = Padding.pad(try Metadata(attributes: attributes).encoded())
        let plain = binding(1), other = binding(2)
        return [
            try input(3, metadata: plain, secret: plain, plaintext: plaintext),
            try input(1, metadata: plain, secret: other, plaintext: plaintext),
            try input(1, metadata: binding(1, .userPresence), secret: binding(2, .userPresence), plaintext: plaintext),
            try input(3, metadata: binding(1, kind: 2), secret: plain, plaintext: plaintext),
            try input(3, metadata: binding(1, kind: 200), secret: plain, plaintext: plaintext),
            try input(0, metadata: plain, secret: plain, plaintext: plaintext),
            try input(1, metadata: plain, secret: plain.with(generation: [UInt8](repeating: 9, count: 8)), plaintext: plaintext),
            try input(1, metadata: plain.itemBinding, secret: plain, plaintext: plaintext),
        ]
    }

    private static func binding(_ version: UInt8, _ flags: AccessControlFlags? = nil, kind: Int64 = 1) -> RowBinding {
        RowBinding(
            user: 1000, protection: .whenUnlocked, generation: [UInt8](repeating: 3, count: 8), item: [UInt8](repeating: 4, count: 16),
            version: [UInt8](repeating: version, count: 16), kind: kind, accessGroup: "cli",
            accessControl: flags.flatMap { try? AccessControl(protection: .whenUnlocked, flags: $0) })
    }

    private static func input(_ mode: UInt8, metadata: RowBinding, secret: RowBinding, plaintext: [UInt8]) throws -> [UInt8] {
        var bytes = [mode]
        for binding in mode & 2 == 0 ? [metadata, secret] : [metadata] {
            let encoded = try binding.encoded()
            bytes += [UInt8(encoded.count >> 8), UInt8(encoded.count & 255)] + encoded
        }
        return bytes + plaintext
    }

    /// `RowMetadata`, as specified.
    private struct Metadata: DERWritable {
        let attributes: ItemAttributes

        func write(into der: inout DERWriter) throws {
            try der.sequence { fields in
                try fields.integer(1)
                try fields.octets([UInt8](repeating: 5, count: 32))
                try fields.value(attributes)
            }
        }
    }
}
