import Foundation
import Testing
import VaubanAccessPolicy
import VaubanCommands
import VaubanLinuxHost
import VaubanRefusal
import VaubanUserModel

/// What a login does with its password, and what the next one does then.
@Suite final class LoginAttemptTests {
    private let path = FileManager.default.temporaryDirectory.appendingPathComponent("vauban-login-\(UUID().uuidString)").path
    private let memory: LoginMemory

    init() throws { memory = LoginMemory(in: try PrivateFolder(path: path, creating: true)) }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Makes the attempt of a login while the status has wrong attempts at these dates, the newest first. Returns what it prints, and
    /// whether it tried its password.
    private func login(
        wrong dates: [Int64] = [], day: Int64 = 20_000, service: String? = "login", ending refusal: Refusal? = nil
    ) throws -> (sentence: String?, hasTried: Bool) {
        var device = DeviceStatus(
            lock: .locked, cause: .lockRequested, since: 0, passcodeIsSet: true, attemptsLeft: 5 - Int64(dates.count), secondsToWait: 0,
            warnings: [])
        device.failedAttempts = dates.map { FailedAttempt(date: $0, purpose: .unlock, who: "a program") }
        var hasTried = false
        let sentence = try LoginAttempt(memory: memory, passwordDay: day, service: service, device: device).run {
            hasTried = true
            if let refusal { throw refusal }
        }
        return (sentence, hasTried)
    }

    /// The right passcode clears the earlier wrong attempts, so a record that remained would look like one that may have been counted.
    @Test("A login whose keychain was locked meanwhile says so, and the next one tries its password", arguments: [[], [7]] as [[Int64]])
    func lockedMeanwhile(_ wrong: [Int64]) throws {
        let first = try login(wrong: wrong, ending: Refusal(.locked, "it was locked while the passcode was checked"))
        #expect(first == (LoginSentence.lockedMeanwhile, true) && memory.entry() == .nothing)
        #expect(try login() == (nil, true) && memory.entry() == .nothing)
    }

    @Test("A login that was interrupted is repeated only if its attempt was not counted") func interrupted() throws {
        #expect(throws: Refusal.self) { try login(wrong: [7], ending: Refusal(.unavailable)) }
        #expect(memory.entry() == .trying(passwordDay: 20_000, lastWrong: 7))
        // Since the latest wrong attempt is another one now, the interrupted one may have been counted.
        for wrong in [[], [8, 7]] as [[Int64]] { #expect(try login(wrong: wrong) == (LoginSentence.cutOff, false)) }
        #expect(try login(wrong: [7]) == (nil, true) && memory.entry() == .nothing)
    }

    @Test("A password that is not the passcode is tried once, and again after it has changed") func differs() throws {
        let wrong = Refusal(.authenticationFailed, "the passcode is wrong")
        #expect(try login(ending: wrong) == (LoginSentence.differs, true))
        #expect(try login(wrong: [7], ending: wrong) == (LoginSentence.differs, false))
        #expect(try login(wrong: [7], day: 20_001) == (nil, true) && memory.entry() == .nothing)
    }

    /// A module for smart cards may pass on the PIN in place of the password.
    @Test("What one service tried in vain keeps no other service from trying its password") func otherService() throws {
        let wrong = Refusal(.authenticationFailed, "the passcode is wrong")
        #expect(try login(service: "cards", ending: wrong) == (LoginSentence.differs, true))
        let ofCards = LoginMemory.Entry.differs(passwordDay: 20_000, service: "cards")
        #expect(try memory.entry() == ofCards && login(wrong: [7]) == (nil, true))
        // The PIN is not tried again, while the password is.
        #expect(try memory.entry() == ofCards && login(service: "cards") == (LoginSentence.differs, false))
        #expect(try login(ending: Refusal(.locked)) == (LoginSentence.lockedMeanwhile, true) && memory.entry() == ofCards)
        #expect(try login() == (nil, true) && memory.entry() == ofCards)
    }

    @Test(
        "A password that two services tried in vain is tried by none",
        arguments: ["login", "display", "a third", nil] as [String?])
    func twoServices(_ third: String?) throws {
        let wrong = Refusal(.authenticationFailed, "the passcode is wrong")
        #expect(try login(service: "display", ending: wrong) == (LoginSentence.differs, true))
        // A login whose service is not known, or cannot be recorded, does not count as another one.
        #expect(try login(wrong: [7], service: nil, ending: wrong) == (LoginSentence.differs, false))
        #expect(try login(wrong: [7], ending: wrong) == (LoginSentence.differs, true))
        #expect(memory.entry() == .differs(passwordDay: 20_000, service: nil))
        #expect(try login(wrong: [8, 7], service: third, ending: wrong) == (LoginSentence.differs, false))
        #expect(try login(wrong: [8, 7], day: 20_001) == (nil, true) && memory.entry() == .nothing)
    }

    @Test("The record of an earlier version counts for all services") func earlierRecord() throws {
        try Data("differs 20000\n".utf8).write(to: URL(fileURLWithPath: "\(path)/tried"))
        #expect(try login() == (LoginSentence.differs, false) && memory.entry() == .differs(passwordDay: 20_000, service: nil))
        #expect(try login(day: 20_001) == (nil, true) && memory.entry() == .nothing)
    }
}
