import EnclaveWire
import Keychain
import KeychainStore
import Synchronization
import Testing
import VaubanAccessPolicy
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanRefusal
import VaubanSecretBytes

/// The application password on its way through keychaind; its effect on a key is tested with the enclave.
@Suite struct ApplicationPasswordTests {
    private let name: [AttributeName: AttributeValue] = [.account: .text("a"), .service: .text("s")]
    private let other: [AttributeName: AttributeValue] = [.account: .text("b"), .service: .text("s")]

    @Test("An item with an application password opens only with it") func itemOpensOnlyWithItsPassword() throws {
        let room = try Room()
        #expect(Refusal.Reason.of { try room.add(name, value: "v", control: .applicationPassword) } == .applicationPasswordMissing)
        #expect(try room.rows().isEmpty)
        try room.add(name, value: "v", control: .applicationPassword, password: "pä55")
        #expect(try room.find(name, password: "pä55").first?.value == "v")
        #expect(Refusal.Reason.of { _ = try room.find(name, password: "pä56") } == .authenticationFailed)
        #expect(try room.database.quarantinedCount() == 0)
    }

    @Test("A missing application password prompts the user") func missingPasswordPromptsUser() throws {
        let room = try Room()
        try room.add(name, value: "v", control: .applicationPassword, password: "p")
        #expect(Refusal.Reason.of { _ = try room.find(name) } == .cancelled)
        room.enclave.set { $0.typedPassword = Array("q".utf8) }
        #expect(Refusal.Reason.of { _ = try room.find(name) } == .authenticationFailed)
        room.enclave.set { $0.typedPassword = Array("p".utf8) }
        #expect(try room.find(name).first?.value == "v")
        #expect(Refusal.Reason.of { _ = try room.find(name) { $0.authenticationUI = .fail } } == .interactionNotAllowed)
        // A search that skips items with prompts leaves it out, unless the password came with the request.
        #expect(Refusal.Reason.of { _ = try room.find(name) { $0.authenticationUI = .skip } } == .itemNotFound)
        #expect(try room.find(name, password: "p") { $0.authenticationUI = .skip }.first?.value == "v")
        #expect(room.enclave.state.withLock { $0.promptCount } == 3)
    }

    @Test("Attributes need no application password") func attributesNeedNoPassword() throws {
        let room = try Room()
        try room.add(name, value: "v", control: .applicationPassword, password: "p")
        #expect(try room.find(name, data: false).first?.record?.attributes[.account] == .text("a"))
        #expect(try room.find(name, data: false) { $0.authenticationUI = .skip }.count == 1)
    }

    @Test("If both are required, the user and the password are both needed") func userAndPasswordAreBothNeeded() throws {
        let room = try Room()
        let control: AccessControlFlags = [.userPresence, .applicationPassword]
        try room.add(name, value: "v", control: control, password: "p")
        #expect(Refusal.Reason.of { _ = try room.find(name, password: "q") } == .authenticationFailed)
        #expect(room.enclave.state.withLock { $0.promptCount } == 1)
        room.enclave.set { $0.typedPassword = Array("p".utf8) }
        #expect(try room.find(name).first?.value == "v")
        #expect(room.enclave.state.withLock { $0.promptCount } == 3)
        #expect(try room.find(name, password: "p").first?.value == "v")
        room.enclave.set { $0.userAnswers = Refusal(.cancelled) }
        #expect(Refusal.Reason.of { _ = try room.find(name, password: "p") } == .cancelled)
    }

    @Test("A password that is not needed is ignored") func unneededPasswordIsIgnored() throws {
        let room = try Room()
        try room.add(name, value: "v", password: "p")
        try room.update(name, value: "w", password: "q")
        #expect(try room.find(name, password: "r").first?.value == "w")
        #expect(try room.find(name).first?.value == "w")
    }

    @Test("A new value is sealed with the password of its request") func newValueIsSealedWithItsRequestsPassword() throws {
        let room = try Room()
        try room.add(name, value: "v", control: .applicationPassword, password: "p")
        #expect(Refusal.Reason.of { try room.update(name, value: "w") } == .applicationPasswordMissing)
        try room.update(name, value: "w", password: "q")
        #expect(try room.find(name, password: "q").first?.value == "w")
        #expect(Refusal.Reason.of { _ = try room.find(name, password: "p") } == .authenticationFailed)
        // Changing only attributes leaves the secret half and needs no password, even if its class key is an older one.
        try room.update(name, to: [.label: .text("l")])
        try room.enclave.renew(.metadata(.whenUnlocked))
        room.leasedKeys.forget(Room.user)
        try room.update(name, to: [.label: .text("m")])
        #expect(try room.find(name, password: "q").first?.record?.attributes[.label] == .text("m"))
    }

    @Test("Adding or removing an application password needs the password") func addingOrRemovingControlNeedsThePassword() throws {
        let room = try Room()
        try room.add(name, value: "v")
        let control = try AccessControl(protection: .whenUnlocked, flags: .applicationPassword)
        #expect(Refusal.Reason.of { try room.update(name, control: control) } == .applicationPasswordMissing)
        try room.update(name, control: control, password: "p")
        #expect(Refusal.Reason.of { _ = try room.find(name) } == .cancelled)
        #expect(Refusal.Reason.of { try room.update(name, protection: .always) } == .cancelled)
        #expect(Refusal.Reason.of { try room.update(name, protection: .always, password: "q") } == .authenticationFailed)
        try room.update(name, protection: .always, password: "p")
        #expect(try room.find(name).first?.value == "v")
    }

    @Test("Rewrapping needs no application password") func rewrappingNeedsNoPassword() throws {
        let room = try Room()
        try room.add(name, value: "v", control: .applicationPassword, password: "p")
        try room.enclave.renew(.metadata(.whenUnlocked))
        #expect(try room.rewrap() == RewrapProgress(done: 1, left: 0, kept: 0))
        #expect(try room.find(name, password: "p").first?.value == "v")
    }

    @Test("The secret section of a request is read strictly") func secretSectionIsReadStrictly() throws {
        let room = try Room()
        let record = ItemRecord(kind: .genericPassword, attributes: ItemAttributes(name))
        func reason(_ request: KeychainRequest, _ section: String?) -> Refusal.Reason? {
            Refusal.Reason.of { try room.serve(request, value: section) }
        }
        #expect(reason(.add(record, returns: [], hasData: false, passwordBytes: 2), "p") == .malformed)
        #expect(reason(.add(record, returns: [], hasData: false, passwordBytes: 2), nil) == .malformed)
        #expect(reason(.add(record, returns: [], hasData: false, passwordBytes: 2), "xpp") == .malformed)
        #expect(reason(.add(record, returns: [], hasData: false), "p") == .malformed)
        #expect(reason(.copyMatching(ItemQuery(kind: .genericPassword), passwordBytes: 1), "pp") == .malformed)
        #expect(reason(.copyMatching(ItemQuery(kind: .genericPassword)), "p") == .malformed)
        #expect(reason(.delete(ItemQuery(kind: .genericPassword)), "p") == .malformed)
        #expect(reason(.rewrap, "p") == .malformed)
        #expect(reason(.discard, "p") == .malformed)
        // The whole section is the password; the value is empty.
        try room.serve(.add(record, returns: [], hasData: true, passwordBytes: 2), value: "pp")
        #expect(try room.find(name).first?.value == "")
    }

    @Test("The longest value leaves no room for a password") func longestValueLeavesNoRoomForPassword() throws {
        let room = try Room()
        let record = ItemRecord(kind: .genericPassword, attributes: ItemAttributes(name))
        let longest = String(repeating: "x", count: 1 << 20)
        #expect(Refusal.Reason.of { try room.serve(.add(record, returns: [], hasData: true), value: longest + "x") } == .dataTooLarge)
        try room.serve(.add(record, returns: [], hasData: true, passwordBytes: 1), value: longest + "p")
    }
}
