// A new passcode typed at the real sheet, and a recovery key shown there, on a real display: what the user sees, what a screen reader and
// so every program of the user receives, and what is left in memory.

import Foundation
import TestSupport
import Testing
import VaubanAuthenticationClient
import VaubanPasscode
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

@Suite("New secrets at the sheet", .serialized)
struct NewSecretAtSheetTests {
    private static let next = "9 lanterns over Ghent"

    private static func asking(_ change: CredentialChange, _ rooms: Rooms) -> Running<Refusal.Reason?> {
        Running { refusal { try rooms.authentication.changeByPrompt(change) } }
    }

    /// Types the three entries and confirms.
    private static func type(current: String, new: String, repeated: String, at desktop: Desktop) throws {
        try desktop.step("focus Current passcode")
        try desktop.step("type \(current)")
        try desktop.step("key Return")
        try desktop.step("focus New passcode")
        try desktop.step("type \(new)")
        try desktop.step("key Return")
        try desktop.step("focus Repeat the new passcode")
        try desktop.step("type \(repeated)")
        try desktop.step("key Return")
    }

    @Test("The user changes the passcode at the sheet, after entries that differ, are too weak or wrong")
    func theUserChangesThePasscode() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        let desktop = try Desktop(rooms)
        defer { desktop.end() }
        let call = Self.asking(.changePasscode, rooms)
        try desktop.step("sees wants to change your passcode to a new one that you type here")
        try desktop.step("sees Type your current passcode, then a new one twice.")
        try desktop.step("focus Current passcode")
        try desktop.step("shot new-passcode")
        try Self.type(current: "a wrong one", new: Self.next, repeated: Self.next, at: desktop)
        try desktop.step("sees That was not your passcode. 4 attempts are left before you have to wait.")
        try desktop.step("shot new-passcode-wrong")
        try Self.type(current: Rooms.passcode, new: "12345", repeated: "12345", at: desktop)
        try desktop.step("sees Too weak: five digits")
        try desktop.step("shot new-passcode-weak")
        try desktop.step("focus New passcode")
        try desktop.step("type \(Self.next)")
        try desktop.step("key Tab")
        try desktop.step("focus Repeat the new passcode")
        try desktop.step("sees whoever has this disk and tries words, names, dates and rows of keys first needs")
        // The announcement is about the complete passcode; nothing is announced while it is typed.
        try desktop.step("key shift+Tab")
        try desktop.step("focus New passcode")
        try desktop.step("key End")
        try desktop.step("key BackSpace")
        try desktop.step("hides whoever has this disk and tries words")
        try desktop.step("type \(Self.next.suffix(1))")
        try desktop.step("key Tab")
        try desktop.step("focus Repeat the new passcode")
        try desktop.step("sees whoever has this disk and tries words, names, dates and rows of keys first needs")
        try desktop.step("type 9 lanterns over Gent")
        try desktop.step("key Return")
        try desktop.step("sees The entries differ. Try again.")
        try desktop.step("shot new-passcode-differs")
        try desktop.step("focus New passcode")
        try desktop.step("type \(Self.next)")
        try desktop.step("key Return")
        try desktop.step("focus Repeat the new passcode")
        try desktop.step("sees whoever has this disk and tries words, names, dates and rows of keys first needs")
        try desktop.step("shot new-passcode-estimate")
        try desktop.step("type \(Self.next)")
        try desktop.step("click Change Passcode")
        try desktop.step("gone")
        #expect(try call.value() == nil)
        try desktop.step("forgot \(Rooms.passcode)")
        try desktop.step("forgot \(Self.next)")
        try rooms.authentication.lock()
        #expect(refusal { try rooms.unlock() } == .authenticationFailed)
        try rooms.unlock(Self.next)
    }

    @Test("Escape, three wrong passcodes and a delay leave the passcode as it is") func thePasscodeStaysAsItIs() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        let before = try rooms.keybag()
        let desktop = try Desktop(rooms)
        defer { desktop.end() }
        let cancelled = Self.asking(.changePasscode, rooms)
        try desktop.step("focus Current passcode")
        try desktop.step("type \(Rooms.passcode)")
        try desktop.step("key Escape")
        try desktop.step("gone")
        #expect(try cancelled.value() == .cancelled)
        let wrong = Self.asking(.changePasscode, rooms)
        for left in [4, 3] {
            try Self.type(current: "a wrong one", new: Self.next, repeated: Self.next, at: desktop)
            try desktop.step("sees \(left) attempts are left")
        }
        try Self.type(current: "a wrong one", new: Self.next, repeated: Self.next, at: desktop)
        try desktop.step("gone")
        #expect(try wrong.value() == .authenticationFailed)
        let last = Self.asking(.changePasscode, rooms)
        try Self.type(current: "a wrong one", new: Self.next, repeated: Self.next, at: desktop)
        try desktop.step("sees 1 attempt is left")
        try Self.type(current: "a wrong one", new: Self.next, repeated: Self.next, at: desktop)
        try desktop.step("sees Too many wrong passcodes")
        #expect(try last.value() == .authenticationFailed)
        // Before the picture, which may take long: the delay is a minute.
        #expect(try Self.asking(.changePasscode, rooms).value() == .lockedOut)
        try desktop.step("shot new-passcode-locked-out")
        #expect(try rooms.keybag() == before)
    }

    /// The groups of six digits that a screen reader receives; the number of the window is not one of them.
    private static func digits(in lines: [String]) -> [Substring] {
        lines.filter { !$0.contains("window:") }.flatMap { $0.matches(of: /\d{6}/).map(\.output) }
    }

    /// The text about the digits that a screen reader receives.
    private static let unread = "Recovery key: eight groups of six digits, not read to screen readers until you press F2"

    @Test("A recovery key is drawn, read to screen readers on request alone, and stays until it is written down")
    func aRecoveryKeyIsShown() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        let desktop = try Desktop(rooms)
        defer { desktop.end() }
        let call = Self.asking(.makeRecoveryKey, rooms)
        try desktop.step("sees wants to make a recovery key, which is shown here once")
        try desktop.step("focus Vauban passcode")
        try desktop.step("type \(Rooms.passcode)")
        try desktop.step("key Return")
        try desktop.step("sees Your recovery key")
        try desktop.step("sees anyone who has it and this disk can read everything")
        try desktop.step("focus \(Self.unread)")
        try desktop.step("shot recovery-key")
        // Keys that are pressed once too often, and the keys of the window, neither end it nor confirm that it is written down.
        try desktop.step("key Return")
        try desktop.step("key space")
        try desktop.step("key Escape")
        try desktop.step("click Close")
        try desktop.step("key Tab")
        try desktop.step("focus I have written it down")
        let told = try desktop.step("tree")
        #expect(Self.digits(in: told).isEmpty && !told.contains { $0.contains("CHECKED") }, "\(told)")
        try desktop.step("key F2")
        try desktop.step("hides not read to screen readers")
        try desktop.step("hides Press F2")
        let groups = Self.digits(in: try desktop.step("tree"))
        #expect(groups.count == RecoveryKey.groups)
        #expect(!call.isOver)
        try desktop.step("key Tab")
        try desktop.step("focus I have written it down")
        try desktop.step("key space")
        try desktop.step("shot recovery-key-written")
        try desktop.step("key Tab")
        try desktop.step("focus Done")
        try desktop.step("key Return")
        try desktop.step("gone")
        #expect(try call.value() == nil)
        let typed = SecretBytes(copying: Array(groups.joined(separator: "-").utf8))
        let none: RecoveryKey? = nil
        try rooms.authentication.recover(with: try RecoveryKey(typed: typed), to: secret(Self.next), newRecoveryKey: none)
        // The window of the next prompt contains nothing of it.
        let next = Self.asking(.makeRecoveryKey, rooms)
        try desktop.step("sees wants to make a recovery key, which is shown here once")
        #expect(Self.digits(in: try desktop.step("tree")).isEmpty)
        try desktop.step("key Escape")
        try desktop.step("gone")
        #expect(try next.value() == .cancelled)
    }
}
