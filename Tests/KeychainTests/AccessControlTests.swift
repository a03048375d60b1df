import Synchronization
import Testing
import VaubanAccessPolicy
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanRefusal

@Suite struct AccessControlTests {
    private let name: [AttributeName: AttributeValue] = [.account: .text("a"), .service: .text("s")]

    private func asked(_ room: Room) -> Int { room.enclave.state.withLock { $0.promptCount } }

    @Test("Reading a protected item prompts, and adding one does not") func readingPromptsAndAddingDoesNot() throws {
        let room = try Room()
        try room.add(name, value: "v", control: .userPresence)
        #expect(asked(room) == 0)
        let found = try room.find(name)
        #expect(found.first?.value == "v")
        #expect(found.first?.record?.accessControl?.flags == .userPresence)
        #expect(asked(room) == 1)
    }

    @Test("Reading the attributes of a protected item prompts, and so does a check that it exists")
    func readingOnlyAttributesPrompts() throws {
        let room = try Room()
        try room.add(name, control: .userPresence)
        #expect(try room.find(name, data: false).first?.value == nil)
        #expect(asked(room) == 1)
        _ = try room.find(name, data: false) { $0.returns.remove(.attributes) }
        #expect(asked(room) == 2)
    }

    @Test("A query allows prompts, fails instead, or skips protected items") func authenticationUIAllowsFailsOrSkips() throws {
        let room = try Room()
        try room.add(name, control: .userPresence)
        try room.add([.account: .text("b"), .service: .text("s")], value: "open")
        #expect(Refusal.Reason.of { _ = try room.find(name) { $0.authenticationUI = .fail } } == .interactionNotAllowed)
        #expect(Refusal.Reason.of { _ = try room.find(name) { $0.authenticationUI = .skip } } == .itemNotFound)
        #expect(try room.find([.service: .text("s")], limit: .all) { $0.authenticationUI = .skip }.map(\.value) == ["open"])
        #expect(asked(room) == 0)
        var query = ItemQuery(kind: .genericPassword, attributes: ItemAttributes(name))
        query.authenticationUI = .skip
        #expect(Refusal.Reason.of { try room.serve(.delete(query)) } == .badParameter)
        #expect(Refusal.Reason.of { try room.serve(.update(query, ItemChanges(attributes: ItemAttributes()))) } == .badParameter)
    }

    @Test(
        "The caller receives the reason why a prompt failed",
        arguments: [Refusal.Reason.cancelled, .authenticationFailed, .noPromptAgent, .lockedOut, .passcodeNotSet])
    func userRefusalReachesCaller(_ reason: Refusal.Reason) throws {
        let room = try Room()
        try room.add(name, value: "v", control: .userPresence)
        room.enclave.set { $0.userAnswers = Refusal(reason) }
        #expect(Refusal.Reason.of { _ = try room.find(name) } == reason)
        #expect(Refusal.Reason.of { try room.update(name, value: "w") } == reason)
        room.enclave.set { $0.userAnswers = nil }
        #expect(try room.find(name).first?.value == "v")
    }

    @Test("Updating a protected item prompts, and deleting it does not") func updatingPromptsAndDeletingDoesNot() throws {
        let room = try Room()
        try room.add(name, value: "v", control: .userPresence)
        try room.update(name, value: "w")
        try room.update(name, to: [.label: .text("l")])
        #expect(asked(room) == 2)
        #expect(try room.find(name).first?.value == "w")
        try room.delete(name)
        #expect(asked(room) == 3)
    }

    @Test("A new accessibility removes the access control, after a prompt") func newAccessibilityRemovesAccessControl() throws {
        let room = try Room()
        try room.add(name, value: "v", control: .userPresence)
        try room.update(name, protection: .afterFirstUnlock)
        #expect(asked(room) == 1)
        #expect(try room.find(name).first?.record?.accessControl == nil)
        #expect(try room.find(name).first?.value == "v")
        #expect(asked(room) == 1)
        try room.update(name, control: try AccessControl(protection: .whenUnlocked, flags: .devicePasscode))
        #expect(try room.find(name).first?.record?.accessControl?.flags == .devicePasscode)
        #expect(asked(room) == 2)
    }

    @Test("Invalid combinations with an access control are refused") func invalidCombinationsAreRefused() throws {
        let room = try Room()
        #expect(Refusal.Reason.of { try room.add([.synchronizable: .number(1)], control: .userPresence) } == .badParameter)
        #expect(Refusal.Reason.of { try room.add(name, control: .companion) } == .unsupported)
        try room.add(name)
        let control = try AccessControl(protection: .whenUnlocked, flags: .userPresence)
        #expect(Refusal.Reason.of { try room.update(name, protection: .always, control: control) } == .badParameter)
        try room.update(name, control: control)
        #expect(Refusal.Reason.of { try room.update(name, to: [.synchronizable: .number(1)]) } == .badParameter)
    }

    @Test("An access control without constraints does not prompt") func accessControlWithoutConstraintsDoesNotPrompt() throws {
        let room = try Room()
        try room.add(name, value: "v", control: [])
        #expect(try room.find(name).first?.value == "v")
        #expect(asked(room) == 0)
    }
}
