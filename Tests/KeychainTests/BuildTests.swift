// Programs that the user built, which are identified by their digest: a new build is offered once.

import EnclaveWire
import Keychain
import Testing
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanRefusal
import VaubanUserModel

@Suite struct BuildTests {
    private let path = "/home/anna/bin/tool"
    private var first: Caller { Callers.own(path, build: 1) }
    private var second: Caller { Callers.own(path, build: 2) }

    private func room() throws -> Room {
        let room = try Room()
        try room.add("a", value: "of the tool", as: first)
        return room
    }

    @Test("A build keeps its identity at any path") func buildKeepsItsIdentityAtAnyPath() throws {
        let room = try room()
        #expect(try room.get("a", as: Callers.own("/tmp/elsewhere", build: 1)).count == 1)
        #expect(Refusal.Reason.of { _ = try room.get("a", as: Callers.own("/tmp/other", build: 2)) } == .itemNotFound)
        #expect(room.consents.isEmpty)
    }

    @Test("A new build is offered once, and accepted from then on") func newBuildIsOfferedOnceAndThenAccepted() throws {
        let room = try room()
        #expect(Refusal.Reason.of { _ = try room.get("a", as: second) } == .noPromptAgent)
        #expect(Refusal.Reason.of { _ = try room.get("a", as: second, ui: .fail) } == .interactionNotAllowed)
        #expect(Refusal.Reason.of { try room.add("b", as: second) } == .noPromptAgent)
        room.userSays(.once)
        let asked = room.consents.count
        #expect(try room.get("a", as: second).count == 1)
        try room.add("b", as: second)
        #expect(room.consents.count == asked + 1 && room.consents.last?.purpose == .acceptBuild && room.consents.last?.program == path)
        room.userIsAway()
        #expect(try room.get("b", as: first).count == 1)
        // The next build is offered as the following one.
        #expect(Refusal.Reason.of { _ = try room.get("a", as: Callers.own(path, build: 3)) } == .noPromptAgent)
    }

    @Test("A build that the user refused is another program") func refusedBuildBecomesAnotherProgram() throws {
        let room = try room()
        room.enclave.set { $0.consentAnswers = .failure(Refusal(.cancelled)) }
        #expect(Refusal.Reason.of { _ = try room.get("a", as: second) } == .itemNotFound)
        let asked = room.consents.count
        try room.add("a", value: "of the second", as: second)
        #expect(try room.get("a", as: second).allSatisfy { $0.hasSuffix("of the second") })
        #expect(try room.get("a", as: first).allSatisfy { $0.hasSuffix("of the tool") })
        #expect(room.consents.count == asked)
    }

    @Test("A refused build has no successors, however many builds follow")
    func refusedBuildHasNoSuccessors() throws {
        let room = try room()
        room.enclave.set { $0.consentAnswers = .failure(Refusal(.cancelled)) }
        for build in UInt8(10)..<80 { try room.add("planted", value: "of an attacker", as: Callers.own(path, build: build)) }
        room.userSays(.once)
        let genuine = try room.get("a", as: first)
        #expect(try room.get("a", as: second) == genuine)
        #expect(Refusal.Reason.of { _ = try room.get("planted", as: second) } == .itemNotFound)
    }

    @Test("Builds in a permitted folder are accepted") func buildsInPermittedFolderAreAccepted() throws {
        let room = try room()
        room.userSays(.once)
        try room.serve(.permit(PermissionChange(.buildsIn, subject: "/home/anna/bin", permits: true)), as: Callers.commandLine())
        let asked = room.consents.count
        #expect(try room.get("a", as: second).count == 1)
        #expect(room.consents.count == asked)
        // A folder whose name only begins in the same way is another folder.
        let other = "/home/anna/binary/tool"
        try room.add("o", as: Callers.own(other, build: 5))
        room.userIsAway()
        #expect(Refusal.Reason.of { _ = try room.get("o", as: Callers.own(other, build: 6)) } == .noPromptAgent)
        try room.serve(.permit(PermissionChange(.buildsIn, subject: "/home/anna/bin", permits: false)), as: Callers.commandLine())
        #expect(Refusal.Reason.of { _ = try room.get("a", as: Callers.own(path, build: 3)) } == .noPromptAgent)
        for folder in ["bin", "/home/anna/bin/", ""] {
            #expect(
                Refusal.Reason.of {
                    try room.serve(.permit(PermissionChange(.buildsIn, subject: folder, permits: true)), as: Callers.commandLine())
                } == .badParameter)
        }
    }

    @Test("A prompt that others cancelled is not stored as a refusal") func cancellationByOthersIsNotStored() throws {
        let room = try room()
        room.enclave.set { $0.consentAnswers = .failure(Refusal(.cancelled, "the keychain was locked or changed meanwhile")) }
        #expect(Refusal.Reason.of { _ = try room.get("a", as: second) } == .cancelled)
        room.userSays(.once)
        #expect(try room.get("a", as: second).count == 1)
    }

    // MARK: Unsigned items

    @Test("Unsigned items move to an owner after the user's approval") func unsignedItemsMoveToAnOwner() throws {
        let room = try Room()
        for index in 0..<300 { try room.add("\(index)", value: "v\(index)", as: Callers.script()) }
        try room.add("7", value: "the user's own", as: Callers.commandLine())
        #expect(Refusal.Reason.of { try room.serve(.move(to: "cli"), as: Callers.commandLine()) } == .noPromptAgent)
        #expect(Refusal.Reason.of { try room.serve(.move(to: "unsigned"), as: Callers.commandLine()) } == .badParameter)
        room.userSays(.once)
        #expect(try room.moved(to: "cli") == RewrapProgress(done: 256, left: 43, kept: 1))
        // After a restart it prompts again, and continues where it was.
        try room.restart()
        room.leasedKeys.forget(Room.user)
        #expect(try room.moved(to: "cli") == RewrapProgress(done: 43, left: 0, kept: 1))
        #expect(try room.moved(to: "cli") == RewrapProgress(done: 0, left: 0, kept: 1))
        #expect(try room.get("299", as: Callers.commandLine()) == ["cli=v299"])
        #expect(try room.get("7", as: Callers.commandLine()) == ["cli=the user's own"])
        room.userIsAway()
        #expect(Refusal.Reason.of { _ = try room.get("299", as: Callers.script()) } == .itemNotFound)
    }
}

extension Room {
    fileprivate func moved(to owner: String) throws -> RewrapProgress {
        guard case .rewrapped(let progress)? = try serve(.move(to: owner), as: Callers.commandLine()).messages.first else {
            throw Refusal(.internalError)
        }
        return progress
    }
}
