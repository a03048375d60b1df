// Backups through the client library and the real rooms, with two devices (Specs/backup.md).

import Crypto
import Foundation
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

@Suite("Backups")
struct BackupTests {
    private static let passphrase = "a passphrase of its own"

    /// The rows that one device copied.
    private struct Copied {
        let keybag: [UInt8]
        var items: [(item: BackupItem, rest: [UInt8])] = []
        var omitted: [String: BackupOmission] = [:]
    }

    private func begin(in rooms: Rooms, _ keybag: [UInt8]?, restores: Bool, passphrase: String? = passphrase) throws -> [UInt8] {
        let given: SecretBytes? = if let passphrase { secret(passphrase) } else { nil }
        let begun = try rooms.keychain.beginBackup(keybag: keybag, restores: restores, secret: given)
        guard case .begun(let keybag) = begun.reply else { throw Refusal(.internalError) }
        #expect(begun.takeSecret()?.count == 32)
        return keybag
    }

    private func backUp(_ rooms: Rooms) throws -> Copied {
        let user = try rooms.user([.passcode(Rooms.passcode)])
        defer { user.leave() }
        var copied = Copied(keybag: try begin(in: rooms, nil, restores: false))
        for entry in try rooms.keychain.copyRows(rooms.keychain.backupRows(after: 0).map(\.row)) {
            switch entry.reply {
            case .item(_, let item): copied.items.append((item, entry.takeBytes()))
            case .omitted(_, let name, let why): copied.omitted[name] = why
            case .begun, .rows, .restored, .deleted, .run: Issue.record("another reply")
            }
        }
        return copied
    }

    private func restore(_ copied: Copied, to rooms: Rooms) throws -> [String: BackupOutcome] {
        _ = try begin(in: rooms, copied.keybag, restores: true)
        var outcomes: [String: BackupOutcome] = [:]
        for (item, rest) in copied.items {
            let rest: SecretBytes? = SecretBytes(copying: rest)
            let (name, outcome) = try rooms.keychain.restore(item, rest: rest)
            outcomes[name] = outcome
        }
        return outcomes
    }

    private func reference(_ rooms: Rooms, _ account: String) throws -> [UInt8]? {
        var query = Rooms.query("backup", account)
        query.returns.insert(.reference)
        return try rooms.keychain.copyMatching(query).first?.reference
    }

    @Test(
        "Another device restores every item of a backup that does not stay on its device",
        .proves("C-058", "C-059", "C-063", "C-092")) func newDeviceReceivesOnlyItemsThatMayLeave() throws
    {
        let (old, new) = (try Rooms(), try Rooms())
        try old.setPasscode()
        try new.setPasscode()
        for protection in ProtectionClass.allCases { try old.add("backup", protection.rawValue, "of \(protection)", protection) }
        try old.add("backup", "asks", "asks", control: try AccessControl(protection: .whenUnlocked, flags: .userPresence))
        let copied = try backUp(old)
        #expect(copied.omitted == ["backup/akpu": .passcodeClass, "backup/asks": .accessControl])
        #expect(copied.items.count == ProtectionClass.allCases.count - 1)

        let outcomes = try restore(copied, to: new)
        for protection in ProtectionClass.allCases where !protection.needsPasscode {
            let account = protection.rawValue
            #expect(outcomes["backup/\(account)"] == (protection.staysOnDevice ? .otherDevice : .added))
            if protection.staysOnDevice {
                #expect(refusal { _ = try new.read("backup", account) } == .itemNotFound)
            } else {
                #expect(try new.read("backup", account) == "of \(protection)")
                #expect(try reference(new, account) == reference(old, account))
            }
        }
        #expect(try restore(copied, to: new).values.filter { $0 == .unchanged }.count == 3)

        // The same device restores all of it, once it is missing.
        for protection in ProtectionClass.allCases where !protection.needsPasscode {
            try old.keychain.delete(Rooms.query("backup", protection.rawValue), atOnce: true)
        }
        #expect(try restore(copied, to: old).values.allSatisfy { $0 == .added })
        for protection in ProtectionClass.allCases { #expect(try old.read("backup", protection.rawValue) == "of \(protection)") }
    }

    private func earlierValues(_ rooms: Rooms, _ account: String) throws -> [String] {
        let query = Rooms.query("backup", account)
        return try rooms.keychain.earlierValues(of: query).indices.map { index in
            guard let value = try rooms.keychain.earlierValue(index + 1, of: query).takeSecret() else { return "" }
            return String(decoding: value.disclosed(), as: UTF8.self)
        }
    }

    private func change(_ rooms: Rooms, _ account: String, comment: String, value: String? = nil) throws {
        let changes = ItemChanges(attributes: ItemAttributes([.comment: .text(comment)]))
        let given: SecretBytes? = if let value { secret(value) } else { nil }
        try rooms.keychain.update(Rooms.query("backup", account), changes, secret: given)
    }

    @Test("A restore keeps the replaced value, and nothing if only attributes are replaced")
    func restoreKeepsReplacedValues() throws {
        let (old, new) = (try Rooms(), try Rooms())
        try old.setPasscode()
        try new.setPasscode()
        try old.add("backup", "a", "one")
        #expect(try restore(backUp(old), to: new) == ["backup/a": .added])
        #expect(try earlierValues(new, "a") == [])
        // Another value, with another comment.
        try change(old, "a", comment: "second", value: "two")
        #expect(try restore(backUp(old), to: new) == ["backup/a": .replaced])
        #expect(try earlierValues(new, "a") == ["one"])
        // Only a comment, more often than an item has earlier values.
        for number in 0..<11 {
            try change(old, "a", comment: "comment \(number)")
            #expect(try restore(backUp(old), to: new) == ["backup/a": .replaced])
        }
        #expect(try new.keychain.copyMatching(attributesQuery("a")).first?.record?.attributes[.comment] == .text("comment 10"))
        #expect(try new.read("backup", "a") == "two" && earlierValues(new, "a") == ["one"])
        // A value that begins or ends like the other is another one, and so is an earlier one that comes again.
        for value in ["two ", "tw", "two"] {
            try change(old, "a", comment: "again", value: value)
            #expect(try restore(backUp(old), to: new) == ["backup/a": .replaced])
        }
        #expect(try new.read("backup", "a") == "two" && earlierValues(new, "a") == ["tw", "two ", "two", "one"])
        // No value is another value than an empty one.
        let record = ItemRecord(kind: .genericPassword, attributes: Rooms.query("backup", "none").attributes)
        _ = try old.keychain.add(record, secret: nil)
        #expect(try restore(backUp(old), to: new)["backup/none"] == .added)
        try change(old, "none", comment: "empty", value: "")
        #expect(try restore(backUp(old), to: new)["backup/none"] == .replaced)
        #expect(try new.keychain.earlierValues(of: Rooms.query("backup", "none")).count == 1)
    }

    @Test("A restore replaces a certificate by its later value, and none of the same name that has another value")
    func restoreKeepsCertificates() throws {
        let (old, new) = (try Rooms(), try Rooms())
        try old.setPasscode()
        try new.setPasscode()
        let query = ItemQuery(
            kind: .certificate, attributes: ItemAttributes([.certificateType: .number(3), .issuer: .data([1]), .serialNumber: .data([7])]))
        func value(_ rooms: Rooms) throws -> String {
            var wanted = query
            wanted.returns = .data
            guard let found = try rooms.keychain.copyMatching(wanted).first?.takeSecret() else { return "" }
            return String(decoding: found.disclosed(), as: UTF8.self)
        }
        func add(_ text: String, to rooms: Rooms) throws {
            var attributes = query.attributes
            attributes[.label] = .text("authority")
            let given: SecretBytes? = secret(text)
            _ = try rooms.keychain.add(ItemRecord(kind: .certificate, attributes: attributes), secret: given)
        }
        func rename(to text: String, in rooms: Rooms) throws {
            let nothing: SecretBytes? = nil
            let changes = ItemChanges(attributes: ItemAttributes([.label: .text(text)]))
            try rooms.keychain.update(query, changes, secret: nothing)
        }
        try add("older", to: new)
        try add("of the backup", to: old)
        #expect(try restore(backUp(old), to: new) == ["authority": .nameTaken])
        #expect(try value(new) == "older")
        // Without it that of the backup is added, and then follows it.
        try new.keychain.delete(query, atOnce: true)
        #expect(try restore(backUp(old), to: new) == ["authority": .added])
        try rename(to: "renamed", in: old)
        #expect(try restore(backUp(old), to: new) == ["renamed": .replaced])
        #expect(try value(new) == "of the backup")
        let later: SecretBytes? = secret("later")
        try old.keychain.update(query, ItemChanges(attributes: ItemAttributes([.label: .text("renamed")])), secret: later)
        #expect(try restore(backUp(old), to: new) == ["renamed": .replaced])
        #expect(try value(new) == "later")
    }

    @Test("A restore keeps an older item that has an access control, and says that it is older")
    func restoreKeepsProtectedItems() throws {
        let (old, new) = (try Rooms(), try Rooms())
        try old.setPasscode()
        try new.setPasscode()
        try new.add("backup", "a", "here", control: try AccessControl(protection: .whenUnlocked, flags: .userPresence))
        try old.add("backup", "a", "of the backup")
        #expect(try restore(backUp(old), to: new) == ["backup/a": .olderKept])
        let user = try new.user([.passcode(Rooms.passcode)])
        defer { user.leave() }
        #expect(try new.read("backup", "a") == "here")
    }

    private func attributesQuery(_ account: String) -> ItemQuery {
        var query = Rooms.query("backup", account)
        query.returns = .attributes
        return query
    }

    /// A recipient, and its restore key.
    private struct Recipient {
        let key: [UInt8]
        let restoreKey: [UInt8]

        init() throws {
            let key = try XWingMLKEM768X25519.PrivateKey.generate()
            self.key = Array(key.publicKey.rawRepresentation)
            restoreKey = Array(key.seedRepresentation)
        }
    }

    private func makeBackup(_ rooms: Rooms, for recipient: [UInt8]?, _ passphrase: String?) throws -> [UInt8] {
        let user = try rooms.user([.passcode(Rooms.passcode)])
        defer { user.leave() }
        let given: SecretBytes? = if let passphrase { secret(passphrase) } else { nil }
        guard
            case .begun(let keybag) = try rooms.keychain.beginBackup(
                keybag: nil, restores: false, recipient: recipient, secret: given
            ).reply
        else { throw Refusal(.internalError) }
        return keybag
    }

    private func open(_ rooms: Rooms, _ keybag: [UInt8], restores: Bool, restoreKey: [UInt8]) throws -> [UInt8] {
        let key: SecretBytes? = SecretBytes(copying: restoreKey)
        let begun = try rooms.keychain.beginBackup(keybag: keybag, restores: restores, secret: key, isRestoreKey: true)
        guard case .begun(let keybag) = begun.reply else { throw Refusal(.internalError) }
        return keybag
    }

    @Test("A backup for a recipient opens with its restore key alone, on another device too", .proves("C-059"))
    func recipientOpensBackup() throws {
        let (old, new) = (try Rooms(), try Rooms())
        try old.setPasscode()
        try new.setPasscode()
        try old.add("backup", "a", "value a")
        let (recipient, other) = (try Recipient(), try Recipient())
        var copied = Copied(keybag: try makeBackup(old, for: recipient.key, nil))
        for entry in try old.keychain.copyRows(old.keychain.backupRows(after: 0).map(\.row)) {
            if case .item(_, let item) = entry.reply { copied.items.append((item, entry.takeBytes())) }
        }
        // This device adds to it without anything, and opens nothing of it.
        let continued = try begin(in: old, copied.keybag, restores: false, passphrase: nil)
        // Its keybag stays unchanged while the class keys do, and another device changes none.
        #expect(continued == copied.keybag)
        for rooms in [old, new] {
            let user = try rooms.user([.passcode(Rooms.passcode)])
            defer { user.leave() }
            #expect(try open(rooms, continued, restores: false, restoreKey: recipient.restoreKey) == continued)
        }
        #expect(refusal { _ = try begin(in: old, continued, restores: true, passphrase: nil) } == .badParameter)
        #expect(refusal { _ = try begin(in: old, continued, restores: true) } == .badParameter)
        #expect(refusal { _ = try open(new, continued, restores: true, restoreKey: other.restoreKey) } == .authenticationFailed)
        #expect(refusal { _ = try open(new, continued, restores: true, restoreKey: [1]) } == .authenticationFailed)

        _ = try open(new, continued, restores: true, restoreKey: recipient.restoreKey)
        let item = try #require(copied.items.first)
        let rest: SecretBytes? = SecretBytes(copying: item.rest)
        #expect(try new.keychain.restore(item.item, rest: rest).outcome == .added)
        #expect(try new.read("backup", "a") == "value a")

        // New class keys end the continuation, and the restore key renews it.
        try old.authentication.changePasscode(from: secret(Rooms.passcode), to: secret("another horse"), rolls: true)
        while try old.keychain.rewrap().left > 0 {}
        #expect(refusal { _ = try begin(in: old, continued, restores: false, passphrase: nil) } == .notAllowedHere)
        let user = try old.user([.passcode("another horse")])
        let renewed = try open(old, continued, restores: false, restoreKey: recipient.restoreKey)
        user.leave()
        #expect(renewed != continued)
        _ = try begin(in: old, renewed, restores: false, passphrase: nil)
    }

    @Test("A backup with a recipient and a passphrase opens with either, and an exchanged recipient is detected")
    func recipientIsBoundToBackup() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        let recipient = try Recipient()
        let (one, two) = (
            try makeBackup(rooms, for: recipient.key, Self.passphrase), try makeBackup(rooms, for: recipient.key, Self.passphrase)
        )
        _ = try begin(in: rooms, one, restores: true)
        _ = try open(rooms, one, restores: true, restoreKey: recipient.restoreKey)
        #expect(refusal { _ = try begin(in: rooms, one, restores: true, passphrase: "another passphrase") } == .authenticationFailed)
        // What was sealed for the same recipient in another backup, in its place: 1120 bytes that begin after the digest.
        let digest = Array(SHA256.hash(data: recipient.key))
        let (place, source) = (try #require(Data(one).range(of: Data(digest))), try #require(Data(two).range(of: Data(digest))))
        let length = 4 + 1120 + 2 + 48
        var exchanged = one
        exchanged.replaceSubrange(place.upperBound..<place.upperBound + length, with: two[source.upperBound..<source.upperBound + length])
        #expect(refusal { _ = try open(rooms, exchanged, restores: true, restoreKey: recipient.restoreKey) } == .badParameter)
        #expect(refusal { _ = try begin(in: rooms, exchanged, restores: true) } == .authenticationFailed)
        #expect(refusal { _ = try begin(in: rooms, exchanged, restores: false, passphrase: nil) } == .notAllowedHere)
        // A backup under a passphrase alone has no recipient, and invalid keys are not accepted as a recipient.
        let alone = try makeBackup(rooms, for: nil, Self.passphrase)
        #expect(refusal { _ = try open(rooms, alone, restores: true, restoreKey: recipient.restoreKey) } == .badParameter)
        #expect(refusal { _ = try makeBackup(rooms, for: [UInt8](repeating: 0xFF, count: 1216), nil) } == .badParameter)
        #expect(refusal { _ = try makeBackup(rooms, for: nil, nil) } == .badParameter)
    }

    @Test("An open backup permits only what it was opened for, and nothing after a lock")
    func openBackupIsLimited() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        try rooms.add("backup", "a", "value")
        let copied = try backUp(rooms)
        let rows = try rooms.keychain.backupRows(after: 0).map(\.row)
        let item = try #require(copied.items.first)
        // Opened for adding, by the keys of this device, it releases nothing.
        _ = try begin(in: rooms, copied.keybag, restores: false, passphrase: nil)
        #expect(try rooms.keychain.copyRows(rows).count == 1)
        let rest: SecretBytes? = SecretBytes(copying: item.rest)
        #expect(refusal { _ = try rooms.keychain.restore(item.item, rest: rest) } == .notAllowedHere)
        try rooms.authentication.lock()
        #expect(refusal { _ = try rooms.keychain.copyRows(rows) } == .locked)
        try rooms.unlock()
        #expect(refusal { _ = try rooms.keychain.copyRows(rows) } == .unavailable)
        // Opened for restoring, it takes nothing.
        _ = try begin(in: rooms, copied.keybag, restores: true)
        #expect(refusal { _ = try rooms.keychain.copyRows(rows) } == .notAllowedHere)
        #expect(
            refusal { _ = try begin(in: rooms, copied.keybag, restores: true, passphrase: "another passphrase") } == .authenticationFailed)
        #expect(refusal { _ = try begin(in: rooms, copied.keybag, restores: true, passphrase: nil) } == .badParameter)
        // New class keys end the continuation, and the passphrase renews it.
        try rooms.authentication.changePasscode(from: secret(Rooms.passcode), to: secret("another horse"), rolls: true)
        while try rooms.keychain.rewrap().left > 0 {}
        #expect(refusal { _ = try begin(in: rooms, copied.keybag, restores: false, passphrase: nil) } == .notAllowedHere)
    }

    @Test("A run without the passphrase detects every altered byte of the keybag, also of the passphrase's salt and cost")
    func alteredKeybagIsDetected() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        let recipient = try Recipient()
        let keybags = [try makeBackup(rooms, for: nil, Self.passphrase), try makeBackup(rooms, for: recipient.key, Self.passphrase)]
        for keybag in keybags {
            #expect(try begin(in: rooms, keybag, restores: false, passphrase: nil) == keybag)
            for index in keybag.indices {
                var altered = keybag
                altered[index] ^= 1
                let reason = refusal { _ = try begin(in: rooms, altered, restores: false, passphrase: nil) }
                #expect(reason != nil && reason != .unavailable, "byte \(index)")
            }
        }
    }

    @Test("An item of a backup that was altered, or combined from two, is refused")
    func alteredItemsAreRefused() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        try rooms.add("backup", "a", "value a")
        try rooms.add("backup", "b", "value b")
        let copied = try backUp(rooms)
        let (a, b) = (copied.items[0], copied.items[1])
        for account in ["a", "b"] { try rooms.keychain.delete(Rooms.query("backup", account), atOnce: true) }
        _ = try begin(in: rooms, copied.keybag, restores: true)
        func refused(_ item: BackupItem, _ rest: [UInt8]) -> Bool {
            let rest: SecretBytes? = SecretBytes(copying: rest)
            return refusal { _ = try rooms.keychain.restore(item, rest: rest) } == .badParameter
        }
        func item(binding: [UInt8]? = nil, wrapped: [UInt8]? = nil, attributes: [UInt8]? = nil, head: [UInt8]? = nil) -> BackupItem {
            BackupItem(
                binding: binding ?? a.item.binding, wrapped: wrapped ?? a.item.wrapped, attributes: attributes ?? a.item.attributes,
                head: head ?? a.item.head)
        }
        #expect(refused(item(binding: b.item.binding), a.rest))
        #expect(refused(item(wrapped: b.item.wrapped), a.rest))
        #expect(refused(item(attributes: b.item.attributes), a.rest))
        #expect(refused(item(head: b.item.head), b.rest))
        #expect(refused(item(binding: [1]), a.rest))
        #expect(refused(item(), a.rest + [0]))
        #expect(try rooms.rows().isEmpty)
        let rest: SecretBytes? = SecretBytes(copying: a.rest)
        #expect(try rooms.keychain.restore(item(), rest: rest).outcome == .added)
    }
}
