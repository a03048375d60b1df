// A lock also erases what requests keep while they wait, and what connections keep open.

import Dispatch
import EnclaveBook
import TestSupport
import Testing
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanKeychainWire
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

extension MemoryScanTests {
    /// The prompt stays open after a lock, since the user may still read the recovery key.
    @Test("A lock while a new recovery key is on the screen leaves neither it nor a passcode in memory", .provesEquivalent("C-040"))
    func lockWhileARecoveryKeyIsShownLeavesNoSecret() throws {
        let rooms = try readableRooms()
        try rooms.setPasscode(Self.passcode)
        let isShown = DispatchSemaphore(value: 0)
        let mayGo = DispatchSemaphore(value: 0)
        let user = try ScriptedUser(service: rooms.service, answers: [.passcode(Self.passcode)]) {
            isShown.signal()
            mayGo.wait()
            return true
        }
        defer { user.leave() }
        defer { mayGo.signal() }
        let call = Running { refusal { try rooms.authentication.changeByPrompt(.makeRecoveryKey) } }
        #expect(isShown.wait(timeout: .now() + HangLimit.seconds) == .success)
        let (stretched, key) = try rooms.state.passcodeKey(Self.passcode, of: rooms.keybag())
        let needles = [
            Needle(name: "passcode", bytes: Array(Self.passcode.utf8)), Needle(name: "stretched passcode", bytes: stretched),
            Needle(name: "passcode key", bytes: key), Needle(name: "recovery key", bytes: try #require(user.recoveryKeys.first)),
        ]
        // What must be there shows that the scan works.
        let device = Needle(name: "device secret", bytes: try rooms.state.deviceSecret)
        let enclave = try rooms.process(of: "enclaved")
        try rooms.authentication.lock()
        let locked = try scan(enclave, needles + [device])
        report("enclaved, locked, a recovery key is shown", locked)
        for (needle, place) in locked.found where needle != device.name { Issue.record("enclaved: \(needle), \(place)") }
        #expect(locked.names.contains(device.name))
        mayGo.signal()
        #expect(try call.value() == nil)
    }

    @Test("A lock erases the keys of a backup that a program keeps open", .provesEquivalent("C-039"))
    func lockErasesTheKeysOfAnOpenBackup() throws {
        let rooms = try readableRooms()
        try rooms.setPasscode(Self.passcode)
        try rooms.add("s", "a", "backed up")
        let user = try rooms.user([.passcode(Self.passcode)])
        defer { user.leave() }
        let passphrase = "a passphrase of its own"
        let given: SecretBytes? = secret(passphrase)
        guard case .begun(let keybag) = try rooms.keychain.beginBackup(keybag: nil, restores: false, secret: given).reply else {
            throw Refusal(.internalError)
        }
        let rows = try rooms.keychain.backupRows(after: 0).map(\.row)
        let keys = try ByTheBook.backupKeys(keybag, passphrase: passphrase)
        let needles = keys.enumerated().map { Needle(name: "backup key \($0.offset)", bytes: $0.element) }
        #expect(needles.count == 7)
        let enclave = try rooms.process(of: "enclaved")
        #expect(try scan(enclave, needles).names == Set(needles.map(\.name)))
        try rooms.authentication.lock()
        let locked = try scan(enclave, needles)
        report("enclaved, locked, a backup was open", locked)
        for (needle, place) in locked.found { Issue.record("enclaved: \(needle), \(place)") }
        // On the same connection, an unlock does not bring them back.
        try rooms.unlock(Self.passcode)
        #expect(refusal { _ = try rooms.keychain.copyRows(rows) } == .unavailable)
    }
}
