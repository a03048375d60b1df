// Companions inside the enclave: what they can open, and what they, the members and the carrier can do (Specs/sync.md).

import Enclave
import EnclaveWire
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanDER
import VaubanRefusal
import VaubanSecretBytes
import VaubanSyncModel

@Suite("Companions of a circle")
struct CompanionTests {
    private typealias Device = CircleTests.Device

    private func reason(_ body: () throws -> Void) -> Refusal.Reason? { refusal(body)?.reason }

    private static let allowed = [UInt8](repeating: 0xA1, count: 16)
    private static let other = [UInt8](repeating: 0xB2, count: 16)
    private func names(_ names: [UInt8]...) -> BlindedNames { BlindedNames(names) ?? .empty }

    /// A circle of a member with a companion, and the statement that admitted it.
    private func circle(_ list: BlindedNames) throws -> (member: Device, companion: Device, statement: [UInt8]) {
        let member = try Device()
        try member.perform(.begin(name: "desk"))
        let (companion, statement) = try admit(by: member, list)
        return (member, companion, statement)
    }

    private func admit(by member: Device, _ list: BlindedNames?, called name: String = "pi") throws -> (Device, [UInt8]) {
        let newcomer = try Device()
        let answer = try member.document(.answer(commitment: try newcomer.document(.apply(name: name))))
        let revealed = try newcomer.perform(.reveal(answer: answer))
        let (reveal, code) = (try #require(revealed.document), try #require(revealed.code))
        let request = list.map { CircleRequest.admitCompanion(reveal: reveal, code: code, $0, shown: "") }
        let approved = try member.perform(request ?? .approve(reveal: reveal, code: code))
        let statement = try #require(approved.document)
        try newcomer.perform(.enter(statement: statement, code: try #require(approved.code)))
        return (newcomer, statement)
    }

    private func row(_ vault: Vault, item: UInt8 = 1, _ protection: ProtectionClass = .whenUnlocked) throws -> RowBinding {
        let generation = try #require(try vault.lease().lease.keys.first { $0.purpose == .metadata(protection) }?.generation)
        return RowBinding(
            user: vault.user, protection: protection, generation: generation, item: [UInt8](repeating: item, count: 16),
            version: [UInt8](repeating: 2, count: 16), kind: 1, accessGroup: "mail", accessControl: nil)
    }

    @Test("A companion opens what is sealed for it and nothing that members seal for each other") func receivesItsItems() throws {
        let (member, companion, _) = try circle(names(Self.allowed))
        #expect(try companion.view.isCompanion && companion.view.members.map(\.name) == ["desk"] && companion.view.companions.isEmpty)
        #expect(try member.view.companions.map(\.device.name) == ["pi"] && !member.view.isCompanion)
        let row = try row(member.vault)
        let wrapped = try member.vault.seal(row).wrapped
        let device = try companion.view.device
        let given = try member.vault.sealForCompanion(row, wrapped: wrapped, device: device, name: Self.allowed).wrapped
        let opened = try companion.vault.circleItemKeys(row, wrapped: given, epoch: 1, in: companion.open())
        guard case .opened(let own) = try member.vault.open(row, wrapped: wrapped) else { throw Refusal(.internalError) }
        let isItemKey: Bool
        switch opened.item {
        case .none: isItemKey = false
        case .some(let key): isItemKey = key.equals(own)
        }
        #expect(isItemKey)
        // It cannot open what the members seal for each other or for another companion.
        let forMembers = try member.vault.sealForCircle(row, wrapped: wrapped, in: member.open()).wrapped
        #expect(reason { _ = try companion.vault.circleItemKeys(row, wrapped: forMembers, epoch: 1, in: companion.open()) } == .rowDamaged)
        let (second, _) = try admit(by: member, names(Self.allowed))
        let forSecond = try member.vault.sealForCompanion(row, wrapped: wrapped, device: second.view.device, name: Self.allowed).wrapped
        #expect(reason { _ = try companion.vault.circleItemKeys(row, wrapped: forSecond, epoch: 1, in: companion.open()) } == .rowDamaged)
        // It has no keys of other files, and not the key of the names.
        let keys = { (secret: borrowing SecretBytes) in secret.withUnsafeBytes { Array($0) } }
        let files = { (device: Device) throws -> [UInt8] in keys(try device.open().fileKeys()) }
        let its = try #require(try member.vault.circle(.companionFiles(device: device), isApproved: false).files)
        #expect(try Array(files(companion).prefix(32)) == keys(its.fileKeys()))
        #expect(try Array(files(companion).prefix(32)) != Array(files(member).prefix(32)))
        let hasNames = try companion.vault.circleNames(of: companion.open()) != nil
        #expect(!hasNames)
    }

    @Test("The enclave seals for a companion only what is on its present list, and never what stays on its device")
    func onlyItemsOnTheListAreSealed() throws {
        let (member, companion, _) = try circle(.empty)
        let device = try companion.view.device
        let row = try row(member.vault)
        let wrapped = try member.vault.seal(row).wrapped
        func sealing(_ name: [UInt8]) -> Refusal.Reason? {
            reason { _ = try member.vault.sealForCompanion(row, wrapped: wrapped, device: device, name: name) }
        }
        #expect(sealing(Self.allowed) == .notAllowedHere)
        // No list changes without the user's approval.
        #expect(
            reason { _ = try member.vault.circle(.allow(device: device, names(Self.allowed), shown: ""), isApproved: false) } == .cancelled)
        let allowed = try member.document(.allow(device: device, names(Self.allowed), shown: ""))
        #expect(sealing(Self.allowed) == nil && sealing(Self.other) == .notAllowedHere)
        #expect(
            reason { _ = try member.vault.circle(.disallow(device: device, .empty, shown: ""), isApproved: false) } == .cancelled)
        let disallowed = try member.document(.disallow(device: device, names(Self.allowed), shown: ""))
        #expect(sealing(Self.allowed) == .notAllowedHere)
        for statement in [allowed, disallowed] { try companion.perform(.follow(statement: statement)) }
        for protection in ProtectionClass.allCases where protection.staysOnDevice {
            _ = try member.document(.allow(device: device, names(Self.allowed), shown: ""))
            let stays = try self.row(member.vault, item: 9, protection)
            let key = try member.vault.seal(stays).wrapped
            #expect(
                reason { _ = try member.vault.sealForCompanion(stays, wrapped: key, device: device, name: Self.allowed) } == .notAllowedHere
            )
        }
        _ = try member.document(.disallow(device: device, names(Self.allowed), shown: ""))
        let many = (0...UInt8(BlindedNames.countMax)).map { [UInt8](repeating: $0, count: 16) }
        #expect(BlindedNames(many) == nil)
        try member.perform(.allow(device: device, BlindedNames(many.prefix(BlindedNames.countMax)) ?? .empty, shown: ""))
        #expect(reason { try member.perform(.allow(device: device, names(Self.other), shown: "")) } == .unsupported)
        try member.vault.lock()
        #expect(sealing(many[0]) == .locked)
    }

    @Test("A companion changes nothing in the circle, and signs no file") func changesNothing() throws {
        let (member, companion, _) = try circle(names(Self.allowed))
        let (desk, device) = (try member.view.device, try companion.view.device)
        let commitment = try Device().document(.apply(name: "phone"))
        let requests: [CircleRequest] = [
            .answer(commitment: commitment), .remove(device: desk), .sign(digest: [UInt8](repeating: 0, count: 32)),
            .allow(device: device, names(Self.other), shown: ""), .disallow(device: device, .empty, shown: ""),
            .companionFiles(device: device), .approve(reveal: [1], code: ""), .admitCompanion(reveal: [1], code: "", .empty, shown: ""),
        ]
        for request in requests { #expect(reason { try companion.perform(request) } == .notAllowedHere) }
        let row = try row(companion.vault)
        let wrapped = try companion.vault.seal(row).wrapped
        #expect(reason { _ = try companion.vault.sealForCircle(row, wrapped: wrapped, in: companion.open()) } == .notAllowedHere)
        let sealed = reason { _ = try companion.vault.sealForCompanion(row, wrapped: wrapped, device: device, name: Self.allowed) }
        #expect(sealed == .notAllowedHere)
    }

    @Test("No device follows a statement whose signer a companion replaced, or that was altered anywhere")
    func forgedStatements() throws {
        let (member, companion, admission) = try circle(names(Self.allowed))
        let (second, joined) = try admit(by: member, nil)
        try companion.perform(.follow(statement: joined))
        let next = try member.document(.allow(device: companion.view.device, names(Self.other), shown: ""))
        // The companion's own name as the signer: the members know no key of a signer by that name.
        let renamed = try replacing(member.view.device, by: companion.view.device, in: next)
        for device in [second, companion] {
            let before = try device.view
            #expect(refusal { try device.perform(.follow(statement: renamed)) } != nil)
            #expect(refusal { try device.perform(.follow(statement: admission)) } != nil)
            for place in stride(from: 8, to: next.count, by: 601) {
                var altered = next
                altered[place] ^= 1
                #expect(refusal { try device.perform(.follow(statement: altered)) } != nil)
            }
            #expect(try device.view == before)
            try device.perform(.follow(statement: next))
        }
        // A companion of another circle, or a new device, enters by no statement that was made for this companion.
        let stranger = try Device()
        let answer = try member.document(.answer(commitment: try stranger.document(.apply(name: "thief"))))
        let revealed = try stranger.perform(.reveal(answer: answer))
        let reveal = try #require(revealed.document)
        let approved = try member.perform(
            .admitCompanion(reveal: reveal, code: try #require(revealed.code), .empty, shown: ""))
        let code = try #require(approved.code)
        #expect(reason { try stranger.perform(.enter(statement: next, code: code)) } == .notAllowedHere)
        try stranger.perform(.enter(statement: try #require(approved.document), code: code))
    }

    @Test("Neither member nor companion follows a statement in which the carrier exchanged their shares")
    func exchangedShares() throws {
        let (member, companion, _) = try circle(names(Self.allowed))
        let (second, joined) = try admit(by: member, nil)
        try companion.perform(.follow(statement: joined))
        let (pi, laptop) = (try companion.view.device, try second.view.device)
        let next = try member.document(.allow(device: pi, names(Self.other), shown: ""))
        // The carrier exchanges the two: neither follows.
        let exchanged = try replacing(pi, by: laptop, in: next)
        #expect(refusal { try companion.perform(.follow(statement: exchanged)) } != nil)
        #expect(refusal { try second.perform(.follow(statement: exchanged)) } != nil)
        try companion.perform(.follow(statement: next))
        #expect(try companion.view.isCompanion)
    }

    @Test("A removed companion opens nothing new, and the others know which items it had") func removal() throws {
        let (member, companion, _) = try circle(names(Self.allowed))
        let (second, joined) = try admit(by: member, nil)
        try companion.perform(.follow(statement: joined))
        let (other, third) = try admit(by: member, names(Self.allowed))
        try second.perform(.follow(statement: third))
        try companion.perform(.follow(statement: third))
        let device = try companion.view.device
        #expect(try second.view.companions.first { $0.device.device == device }?.names == names(Self.allowed))
        let removal = try member.document(.remove(device: device))
        #expect(reason { try companion.perform(.follow(statement: removal)) } == .notAllowedHere)
        for device in [second, other] { try device.perform(.follow(statement: removal)) }
        #expect(try other.view.epoch == 2 && other.view.isCompanion && second.view.companions.count == 1)
        let row = try row(member.vault)
        let wrapped = try member.vault.seal(row).wrapped
        #expect(
            reason { _ = try member.vault.sealForCompanion(row, wrapped: wrapped, device: device, name: Self.allowed) } == .badParameter)
        let given = try member.vault.sealForCompanion(row, wrapped: wrapped, device: other.view.device, name: Self.allowed).wrapped
        _ = try other.vault.circleItemKeys(row, wrapped: given, epoch: 2, in: other.open())
        for epoch in [Int64(1), 2] {
            #expect(refusal { _ = try companion.vault.circleItemKeys(row, wrapped: given, epoch: epoch, in: companion.open()) } != nil)
        }
        // A companion that is admitted after a removal, and a restart, do not change that.
        let (late, _) = try admit(by: second, names(Self.allowed))
        #expect(try late.view.epoch == 2)
        let restarted = late.bench.start()
        try restarted.unlock(secret(Workbench.passcode))
        #expect(try restarted.circle(.view, isApproved: true).reply.view == late.view)
    }

    @Test("A circle has at most four companions, and they count among its devices") func companionsAreFew() throws {
        let member = try Device()
        try member.perform(.begin(name: "desk"))
        let full = BlindedNames((0..<UInt8(BlindedNames.countMax)).map { [UInt8](repeating: $0, count: 16) }) ?? .empty
        for _ in 0..<CircleRequest.companionsMax { _ = try admit(by: member, full) }
        #expect(reason { _ = try admit(by: member, full) } == .unsupported)
        for _ in 0..<CircleRequest.membersMax - CircleRequest.companionsMax - 1 { _ = try admit(by: member, nil) }
        #expect(reason { _ = try admit(by: member, nil) } == .unsupported)
        // The largest statement and view fit into the messages and the state, with as many tokens as there can be.
        for number in 0..<JoinToken.countMax {
            let name = String(repeating: "\(number)", count: CircleRequest.nameBytesMax)
            try member.perform(.makeToken(name: name, seconds: JoinToken.seconds.upperBound, full, shown: ""))
        }
        let companion = try #require(try member.view.companions.first)
        let statement = try member.document(.remove(device: companion.device.device))
        #expect(statement.count <= CircleRequest.documentBytesMax)
        #expect(try member.perform(.view).encoded().count < 59_000)
    }

    @Test("A circle at every limit is stored and read again, and a state beyond the limits is refused, so the old one stays")
    func theLargestCircleIsReadAgain() throws {
        let name = String(repeating: "n", count: CircleRequest.nameBytesMax)
        let full = BlindedNames((0..<UInt8(BlindedNames.countMax)).map { [UInt8](repeating: $0, count: 16) }) ?? .empty
        let member = try Device()
        try member.perform(.begin(name: name))
        for _ in 0..<CircleRequest.companionsMax { _ = try admit(by: member, full, called: name) }
        for _ in 0..<CircleRequest.membersMax - CircleRequest.companionsMax - 1 { _ = try admit(by: member, nil, called: name) }
        for _ in 1..<CircleRequest.epochsMax {
            let last = try #require(try member.view.members.last)
            try member.perform(.remove(device: last.device))
            _ = try admit(by: member, nil, called: name)
        }
        for number in 0..<JoinToken.countMax {
            let name = String(repeating: "\(number)", count: CircleRequest.nameBytesMax)
            try member.perform(.makeToken(name: name, seconds: JoinToken.seconds.upperBound, full, shown: ""))
        }
        _ = try member.document(.answer(commitment: try Device().document(.apply(name: name))))
        let view = try member.view
        #expect(view.epoch == Int64(CircleRequest.epochsMax) && view.members.count + view.companions.count == CircleRequest.membersMax)
        let reply = try member.perform(.view)
        #expect(try #require(reply.document).count <= CircleRequest.documentBytesMax)
        #expect(try reply.encoded().count < 59_000)
        let file = try #require(member.bench.store.files["1000/circle"])
        #expect(file.count > StateName.keybag.bytesMax && file.count <= StateName.circle.bytesMax)

        // The wires refuse such a name.
        let tooLong = String(repeating: "n", count: StateName.circle.bytesMax)
        let token = try #require(view.tokens.first)
        try member.perform(.revokeToken(verification: token.verification))
        let before = member.bench.store.files
        let refused = reason { try member.perform(.makeToken(name: tooLong, seconds: JoinToken.seconds.upperBound, full, shown: "")) }
        #expect(refused == .internalError)
        #expect(member.bench.store.files == before)
        let restarted = member.bench.start()
        try restarted.unlock(secret(Workbench.passcode))
        #expect(try restarted.circle(.view, isApproved: true).reply.document == reply.document)
    }

    @Test("No state file is opened beyond its own limit", arguments: StateName.allCases)
    func stateFilesAreLimited(_ name: StateName) throws {
        let bench = Workbench()
        // Everything but the content takes between 50 and 100 bytes.
        for (count, isRead) in [(1, true), (name.bytesMax - 100, true), (name.bytesMax - 50, false), (name.bytesMax, false)] {
            let content = [UInt8](repeating: 1, count: count)
            let bytes = try StateEnvelope(content: content, name: name, user: Workbench.user, backend: bench.device).encoded()
            let opened = try? StateEnvelope.open(bytes, name: name, user: Workbench.user, backend: bench.device)
            #expect(opened == (isRead ? content : nil))
        }
    }

    /// Returns a document in which one identifier is another's.
    private func replacing(_ one: [UInt8], by other: [UInt8], in document: [UInt8]) throws -> [UInt8] {
        var bytes = document
        var isFound = false
        for place in 0...bytes.count - one.count where Array(bytes[place..<place + one.count]) == one {
            bytes.replaceSubrange(place..<place + one.count, with: other)
            isFound = true
        }
        try #require(isFound)
        return bytes
    }
}
