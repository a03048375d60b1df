import DesktopKeychain
import Testing
import VaubanAccessPolicy
import VaubanCommands
import VaubanRefusal
import VaubanUserModel

/// The settings that the window changes by a prompt.
@Suite("Choices of when the keychain locks") struct LockChoiceTests {
    private static let custom = LockSettings(graceSeconds: 90, idleSeconds: 1200, locksWithScreen: true)

    @Test("The offered times include the present one") func offeredTimesIncludeThePresentOne() {
        let usual = LockChoice(.standard)
        #expect(usual.idleLengths.map(\.words) == ["Never", "5 minutes", "15 minutes", "1 hour"])
        #expect(usual.graceLengths.map(\.words) == ["At once", "10 seconds", "1 minute", "5 minutes"])
        let custom = LockChoice(Self.custom)
        #expect(custom.idleLengths.map(\.words) == ["Never", "5 minutes", "15 minutes", "20 minutes", "1 hour"])
        #expect(custom.graceLengths.map(\.words) == ["At once", "10 seconds", "1 minute", "90 seconds", "5 minutes"])
        #expect(custom.idleSeconds == 1200 && custom.graceSeconds == 90 && custom.locksWithScreen)
    }

    @Test("A choice of the present settings is no change") func choiceOfThePresentSettingsIsNoChange() {
        var choice = LockChoice(Self.custom)
        #expect(choice.change == nil)
        choice.idleSeconds = 0
        let first = choice.change
        #expect(first != nil)
        choice.locksWithScreen = false
        #expect(choice.change != nil && choice.change != first)
        choice.locksWithScreen = true
        choice.idleSeconds = 1200
        #expect(choice.change == nil)
        choice.graceSeconds = 0
        #expect(choice.change != nil)
    }

    private static func device(_ isSet: Bool, _ recovery: Bool, reader: Bool, enrolled: Bool) -> DeviceStatus {
        var device = DeviceStatus(
            lock: .unlocked, cause: .passcodeEntered, since: 0, passcodeIsSet: isSet, attemptsLeft: 5, secondsToWait: 0, warnings: [])
        device.recoveryKeyIsSet = recovery
        device.biometry = .init(readerIsPresent: reader, isEnrolled: enrolled, isReady: enrolled, unlocks: false, missesLeft: 5)
        return device
    }

    @Test("Only changes that are possible are offered") func onlyPossibleChangesAreOffered() {
        func titles(_ subject: SettingsSummary.Subject, _ device: DeviceStatus) -> [String] {
            KeychainChange.offered(for: subject, of: device).map(\.title)
        }
        let full = Self.device(true, true, reader: true, enrolled: true)
        #expect(titles(.passcode, full) == ["Change Passcode"])
        #expect(titles(.recoveryKey, full) == ["Make Recovery Key", "End Recovery Key"])
        #expect(titles(.fingers, full) == ["Enroll Finger to Approve", "Enroll Finger to Approve and Unlock", "Delete Fingers"])
        #expect(titles(.locks, full).isEmpty && titles(.terminalPrompts, full).isEmpty)
        let bare = Self.device(true, false, reader: false, enrolled: false)
        #expect(titles(.recoveryKey, bare) == ["Make Recovery Key"] && titles(.fingers, bare).isEmpty)
        #expect(titles(.fingers, Self.device(true, false, reader: true, enrolled: false)).count == 2)
        // Without the reader, its fingers would stay.
        #expect(titles(.fingers, Self.device(true, false, reader: false, enrolled: true)).isEmpty)
        // Without a passcode there is nothing that could approve.
        let open = Self.device(false, false, reader: true, enrolled: false)
        #expect(titles(.fingers, open).isEmpty && titles(.passcode, open).isEmpty && titles(.recoveryKey, open).isEmpty)
    }

    @Test("A warning says what a change of fingers erases") func changesOfFingersHaveAWarning() {
        func warning(_ subject: SettingsSummary.Subject, enrolled: Bool) -> String? {
            let device = Self.device(true, true, reader: true, enrolled: enrolled)
            return KeychainChange.warning(about: KeychainChange.offered(for: subject, of: device))
        }
        for enrolled in [false, true] {
            let text = warning(.fingers, enrolled: enrolled) ?? ""
            #expect(text.contains("can never be read again") && text.contains("all fingers that this computer’s reader has"))
            #expect(warning(.locks, enrolled: enrolled) == nil)
        }
    }

    @Test("A warning says where a new passcode is typed and a new recovery key is shown") func newSecretsHaveAWarning() {
        let full = Self.device(true, true, reader: true, enrolled: true)
        func warning(_ subject: SettingsSummary.Subject) -> String {
            KeychainChange.warning(about: KeychainChange.offered(for: subject, of: full)) ?? ""
        }
        #expect(warning(.passcode).contains("this window receives neither"))
        #expect(warning(.recoveryKey).contains("never in this window"))
    }

    @Test("Commands are shown only for changes that are made in a terminal") func commandsAreShownForTheTerminal() {
        let full = Self.device(true, true, reader: true, enrolled: true)
        #expect(SettingsSummary.all(of: full).flatMap(\.commands) == ["vauban passcode change --roll"])
        #expect(SettingsSummary.all(of: full).map(\.subject) == [.locks, .passcode, .recoveryKey, .fingers])
    }

    @Test("The window explains that the settings were changed meanwhile") func changedMeanwhileIsExplained() {
        let explanation = Explanation(Refusal(.keysChanged, "the settings were changed meanwhile; look at them again"))
        #expect(explanation.text == "The settings were changed meanwhile; look at them again." && !explanation.isCancelled)
    }
}
