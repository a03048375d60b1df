// Circles of devices inside the enclave: which device enters, which one reads, and what the carrier of the folder can do to the files
// (Specs/sync.md).

import Enclave
import EnclaveWire
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanDER
import VaubanRefusal
import VaubanSecretBytes
import VaubanSyncModel

@Suite("Circles of devices")
struct CircleTests {
    /// A device with its part of a circle.
    final class Device {
        let bench: Workbench
        let vault: Vault

        init(_ bench: Workbench = Workbench()) throws {
            self.bench = bench
            vault = try bench.startProtected()
        }

        @discardableResult func perform(_ request: CircleRequest) throws -> CircleReply {
            try vault.circle(request, isApproved: true).reply
        }

        func document(_ request: CircleRequest) throws -> [UInt8] { try #require(try perform(request).document) }

        func open() throws -> OpenCircle { try #require(try vault.circle(.open, isApproved: true).opened) }

        var view: CircleView { get throws { try perform(.view).view } }
    }

    private func reason(_ body: () throws -> Void) -> Refusal.Reason? { refusal(body)?.reason }

    /// The files in the folder while a device joined.
    private struct Joining {
        var answer: [UInt8] = []
        var reveal: [UInt8] = []
        var code = ""
        var statement: [UInt8] = []
        var memberCode = ""
    }

    @discardableResult private func join(_ newcomer: Device, _ member: Device) throws -> Joining {
        var passed = Joining()
        passed.answer = try member.document(.answer(commitment: try newcomer.document(.apply(name: "laptop"))))
        let revealed = try newcomer.perform(.reveal(answer: passed.answer))
        (passed.reveal, passed.code) = (try #require(revealed.document), try #require(revealed.code))
        let approved = try member.perform(.approve(reveal: passed.reveal, code: passed.code))
        (passed.statement, passed.memberCode) = (try #require(approved.document), try #require(approved.code))
        try newcomer.perform(.enter(statement: passed.statement, code: passed.memberCode))
        return passed
    }

    private func row(_ protection: ProtectionClass, _ vault: Vault, control: AccessControl? = nil) throws -> RowBinding {
        let lease = try vault.lease().lease
        let generation = try #require(lease.keys.first { $0.purpose == .metadata(protection) }?.generation)
        return RowBinding(
            user: vault.user, protection: protection, generation: generation, item: [UInt8](repeating: 1, count: 16),
            version: [UInt8](repeating: 2, count: 16), kind: 1, accessGroup: "mail", accessControl: control)
    }

    @Test("A member opens what another member sealed, and a device of another circle does not") func membersShare() throws {
        let (first, second, stranger) = (try Device(), try Device(), try Device())
        try first.perform(.begin(name: "desk"))
        try stranger.perform(.begin(name: "other"))
        try join(second, first)
        #expect(try second.view.members.map(\.name) == ["desk", "laptop"])
        let row = try row(.whenUnlocked, first.vault)
        let wrapped = try first.vault.seal(row).wrapped
        let sealed = try first.vault.sealForCircle(row, wrapped: wrapped, in: first.open())
        let given = sealed.wrapped
        let opened = try second.vault.circleItemKeys(row, wrapped: given, epoch: 1, in: second.open())
        guard case .opened(let own) = try first.vault.open(row, wrapped: wrapped) else { throw Refusal(.internalError) }
        let isItemKey: Bool
        switch opened.item {
        case .none: isItemKey = false
        case .some(let key): isItemKey = key.equals(own)
        }
        let isAttributesKey = opened.attributes.equals(sealed.key)
        #expect(isItemKey && isAttributesKey)
        #expect(reason { _ = try stranger.vault.circleItemKeys(row, wrapped: given, epoch: 1, in: stranger.open()) } == .rowDamaged)
    }

    @Test("The enclave refuses to seal for a circle what must stay on the device", arguments: ProtectionClass.allCases)
    func itemsOfThisDeviceAreNotSealed(_ protection: ProtectionClass) throws {
        let device = try Device()
        try device.perform(.begin(name: "desk"))
        let circle = try device.open()
        let row = try row(protection, device.vault)
        let wrapped = try device.vault.seal(row).wrapped
        let refused = reason { _ = try device.vault.sealForCircle(row, wrapped: wrapped, in: circle) }
        #expect(refused == (protection.staysOnDevice ? .notAllowedHere : nil))
        let control = try AccessControl(protection: protection, flags: .userPresence)
        let guarded = try self.row(protection, device.vault, control: control)
        let layered = try device.vault.seal(guarded).wrapped
        #expect(reason { _ = try device.vault.sealForCircle(guarded, wrapped: layered, in: circle) } == .notAllowedHere)
        #expect(reason { _ = try device.vault.circleItemKeys(guarded, wrapped: layered, epoch: 1, in: circle) } == .notAllowedHere)
    }

    @Test("A removed device opens nothing that is sealed with the new key, and follows no more statements") func removal() throws {
        let (first, second, third) = (try Device(), try Device(), try Device())
        try first.perform(.begin(name: "desk"))
        try join(second, first)
        let admitted = try join(third, first)
        try second.perform(.follow(statement: admitted.statement))
        let removal = try first.document(.remove(device: try third.view.device))
        try second.perform(.follow(statement: removal))
        #expect(try second.view.epoch == 2 && second.view.members.count == 2)
        #expect(reason { try third.perform(.follow(statement: removal)) } == .notAllowedHere)
        let row = try row(.whenUnlocked, first.vault)
        let given = try first.vault.sealForCircle(row, wrapped: try first.vault.seal(row).wrapped, in: first.open()).wrapped
        #expect(reason { _ = try third.vault.circleItemKeys(row, wrapped: given, epoch: 1, in: third.open()) } == .rowDamaged)
        #expect(reason { _ = try third.vault.circleItemKeys(row, wrapped: given, epoch: 2, in: third.open()) } == .badParameter)
        _ = try second.vault.circleItemKeys(row, wrapped: given, epoch: 2, in: second.open())
        // The removed device's statements from then on are forks, which no device follows.
        let forged = try third.document(.remove(device: try first.view.device))
        #expect(reason { try second.perform(.follow(statement: forged)) } == .badParameter)
        // A device that joins later gets the earlier key too.
        let late = try Device()
        try join(late, first)
        #expect(try late.view.epoch == 2)
        _ = try late.vault.circleItemKeys(row, wrapped: given, epoch: 2, in: late.open())
    }

    @Test("A join request that was forged, altered, replayed or relayed is refused") func forgedJoining() throws {
        let (member, newcomer, attacker) = (try Device(), try Device(), try Device())
        try member.perform(.begin(name: "desk"))
        try attacker.perform(.begin(name: "desk"))
        let commitment = try newcomer.document(.apply(name: "laptop"))
        let answer = try member.document(.answer(commitment: commitment))
        // An attacker that answers in the member's place gets a code that the member does not accept, and keys that do not match.
        let relayed = try attacker.document(.answer(commitment: commitment))
        let revealed = try newcomer.perform(.reveal(answer: relayed))
        let reveal = try #require(revealed.document)
        #expect(reason { try member.perform(.approve(reveal: reveal, code: revealed.code ?? "")) } == .badParameter)
        // A second answer after the keys were revealed is refused, so an attacker cannot try answers until the codes agree.
        #expect(reason { try newcomer.perform(.reveal(answer: answer)) } == .badParameter)

        let other = try Device()
        let passed = try join(other, member)
        // A wrong code, an altered request, another device's request, and a request that was answered before.
        let third = try Device()
        _ = try member.document(.answer(commitment: try third.document(.apply(name: "phone"))))
        #expect(reason { try member.perform(.approve(reveal: passed.reveal, code: passed.code)) } == .badParameter)
        let fourth = try Device()
        let ownAnswer = try member.document(.answer(commitment: try fourth.document(.apply(name: "phone"))))
        let own = try fourth.perform(.reveal(answer: ownAnswer))
        let document = try #require(own.document)
        let code = try #require(own.code)
        let wrong = code.hasPrefix("0") ? "111 111" : "000 000"
        #expect(reason { try member.perform(.approve(reveal: document, code: wrong)) } == .authenticationFailed)
        for place in [40, 200, document.count - 1] {
            var altered = document
            altered[place] ^= 1
            #expect(reason { try member.perform(.approve(reveal: altered, code: code)) } == .badParameter)
        }
        // The member's code is compared too, and only the statement of the device that answered counts.
        let approved = try member.perform(.approve(reveal: document, code: code))
        let statement = try #require(approved.document)
        #expect(reason { try fourth.perform(.enter(statement: statement, code: wrong)) } == .authenticationFailed)
        #expect(reason { try fourth.perform(.enter(statement: passed.statement, code: approved.code ?? "")) } == .notAllowedHere)
        for place in stride(from: 8, to: statement.count, by: 601) {
            var altered = statement
            altered[place] ^= 1
            #expect(refusal { try fourth.perform(.enter(statement: altered, code: approved.code ?? "")) } != nil)
        }
        try fourth.perform(.enter(statement: statement, code: approved.code ?? ""))
        #expect(try fourth.view.members.count == 3)
    }

    @Test("Statements are followed in order, each once, and only if they are unaltered and by members") func statementsAreChained() throws {
        let (first, second, third, stranger) = (try Device(), try Device(), try Device(), try Device())
        try first.perform(.begin(name: "desk"))
        try stranger.perform(.begin(name: "desk"))
        try join(second, first)
        let foreign = try stranger.document(.view)
        #expect(reason { try second.perform(.follow(statement: foreign)) } == .badParameter)
        let before = try second.view
        let admitted = try join(third, first)
        for place in stride(from: 8, to: admitted.statement.count, by: 601) {
            var altered = admitted.statement
            altered[place] ^= 1
            #expect(refusal { try second.perform(.follow(statement: altered)) } != nil)
        }
        let removal = try first.document(.remove(device: try third.view.device))
        #expect(reason { try second.perform(.follow(statement: removal)) } == .badParameter)
        #expect(try second.view == before)
        try second.perform(.follow(statement: admitted.statement))
        #expect(reason { try second.perform(.follow(statement: admitted.statement)) } == .badParameter)
        try second.perform(.follow(statement: removal))
        #expect(try second.view.members.map(\.name) == ["desk", "laptop"])
    }

    @Test("A device's part of a circle opens only on that device, unaltered, unlocked and with a passcode, and can always be left")
    func stateIsBound() throws {
        let device = try Device()
        try device.perform(.begin(name: "desk"))
        let file = "\(Workbench.user)/circle"
        let stored = try #require(device.bench.store.files[file])
        for place in stride(from: 4, to: stored.count, by: 97) {
            device.bench.store.files[file]?[place] ^= 1
            #expect(refusal { _ = try device.vault.circle(.open, isApproved: true) } != nil)
            device.bench.store.files[file] = stored
        }
        let other = try Device(Workbench(device: 9))
        other.bench.store.files[file] = stored
        #expect(reason { _ = try other.vault.circle(.open, isApproved: true) } == .stateUnreadable)
        try other.perform(.leave)
        #expect(reason { _ = try other.vault.circle(.view, isApproved: true) } == .notAllowedHere)
        try other.perform(.begin(name: "other"))

        let circle = try device.open()
        let row = try row(.whenUnlocked, device.vault)
        let wrapped = try device.vault.seal(row).wrapped
        try device.vault.lock()
        #expect(reason { _ = try device.vault.circle(.open, isApproved: true) } == .locked)
        try device.vault.unlock(secret(Workbench.passcode))
        // A circle that was opened before a lock is no longer open after it.
        #expect(reason { _ = try device.vault.sealForCircle(row, wrapped: wrapped, in: circle) } == .unavailable)
        // Neither new class keys nor a restart change it.
        try device.vault.changePasscode(from: secret(Workbench.passcode), to: secret(Workbench.otherPasscode), rolls: true)
        _ = try device.open()
        let again = device.bench.start()
        try again.unlock(secret(Workbench.otherPasscode))
        #expect(try again.circle(.open, isApproved: true).reply.view == device.view)
        #expect(reason { _ = try Workbench().start().circle(.begin(name: "desk"), isApproved: true) } == .passcodeNotSet)
    }

    @Test("A request whose document did not arrive can be repeated with the same outcome") func requestsCanBeRepeated() throws {
        let (member, newcomer) = (try Device(), try Device())
        let first = try member.document(.begin(name: "desk"))
        #expect(try member.document(.view) == first)
        #expect(reason { try member.perform(.begin(name: "desk")) } == .badParameter)
        let commitment = try newcomer.document(.apply(name: "laptop"))
        #expect(try newcomer.document(.apply(name: "laptop")) == commitment)
        let answer = try member.document(.answer(commitment: commitment))
        #expect(try member.document(.answer(commitment: commitment)) == answer)
        let revealed = try newcomer.perform(.reveal(answer: answer))
        #expect(try newcomer.perform(.reveal(answer: answer)).code == revealed.code)
        let (reveal, code) = (try #require(revealed.document), try #require(revealed.code))
        #expect(try member.vault.newcomerToAdmit(reveal, code: code)?.name == "laptop")
        let approved = try member.perform(.approve(reveal: reveal, code: code))
        // The user is not prompted again for what is already done.
        #expect(try member.vault.newcomerToAdmit(reveal, code: code) == nil)
        #expect(try member.perform(.approve(reveal: reveal, code: code)) == approved)
        try newcomer.perform(.enter(statement: try #require(approved.document), code: try #require(approved.code)))
        #expect(try newcomer.perform(.view).document == nil)
    }

    @Test("A device reveals its keys for one answer only, even after a restart, and a member limits answers that lead to no admission")
    func answersAreLimited() throws {
        let (member, newcomer, attacker) = (try Device(), try Device(), try Device())
        try member.perform(.begin(name: "desk"))
        try attacker.perform(.begin(name: "desk"))
        let commitment = try newcomer.document(.apply(name: "laptop"))
        try newcomer.perform(.reveal(answer: try attacker.document(.answer(commitment: commitment))))
        let answer = try member.document(.answer(commitment: commitment))
        let restarted = newcomer.bench.start()
        try restarted.unlock(secret(Workbench.passcode))
        #expect(reason { _ = try restarted.circle(.reveal(answer: answer), isApproved: true) } == .badParameter)

        func answers() throws -> Refusal.Reason? {
            let asked = try Device().document(.apply(name: "phone"))
            return reason { try member.perform(.answer(commitment: asked)) }
        }
        for _ in 1..<EnclaveLimits.circleAnswersMax { #expect(try answers() == nil) }
        #expect(try answers() == .unavailable)
        let clock = member.bench.clock
        clock.setWall(microseconds: clock.referenceMicroseconds + Int64(EnclaveLimits.circleAnswerIntervalMicroseconds))
        #expect(try answers() == nil)
        #expect(try answers() == .unavailable)
    }

    @Test("A statement with a number out of range is refused") func statementNumberOutOfRangeIsRefused() throws {
        let device = try Device()
        try device.perform(.begin(name: "desk"))
        for number in [Int64.max, CircleRequest.numberMax + 1, 0, -1] {
            var inner = DERWriter()
            try inner.sequence { fields in
                try fields.integer(1)
                try fields.octets([UInt8](repeating: 0, count: 16))
                try fields.integer(number)
                try fields.octets([UInt8](repeating: 0, count: 32))
                try fields.integer(1)
                try fields.octets([UInt8](repeating: 0, count: 16))
                fields.sequence { _ in }
                try fields.octets([UInt8](repeating: 0, count: 40))
            }
            var outer = DERWriter()
            try outer.sequence { fields in
                try fields.octets(inner.bytes)
                try fields.octets([UInt8](repeating: 0, count: 64))
            }
            #expect(reason { try device.perform(.follow(statement: outer.bytes)) } == .badParameter)
        }
    }
}
