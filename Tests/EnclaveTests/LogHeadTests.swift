// The signed end of the access log (Specs/access-log.md, "The head").

import Enclave
import EnclaveWire
import Testing
import VaubanLogHead
import VaubanRefusal
import VaubanSignedNote

@Suite("The signed end of the access log")
struct LogHeadTests {
    private func link(_ number: Int64) -> AccessLogLink {
        AccessLogLink(number: number, series: 1, digest: [UInt8](repeating: 3, count: 32))
    }

    private func head(of vault: Vault) throws -> (note: SignedNote, keys: [NoteKey]) {
        let signed = try vault.signLogHead(LogHeadRequest())
        return (try #require(SignedNote(signed.note)), signed.keys.compactMap { NoteKey(text: $0.text) })
    }

    @Test("The enclave signs the end of the log with a key that outlasts a restart and a change of the passcode")
    func signs() throws {
        let bench = Workbench()
        let vault = try bench.startProtected()
        let end = try vault.anchorLog([link(1), link(2)]).end
        let (note, keys) = try head(of: vault)
        let signed = try #require(note.head)
        #expect(signed.number == 2 && signed.chain == end.chain && signed.user == Workbench.user)
        #expect(keys.first?.verifies(note) == true && keys.first?.name == signed.origin)
        try vault.changePasscode(from: secret(Workbench.passcode), to: secret(Workbench.otherPasscode), rolls: true)
        let again = bench.start()
        try again.unlock(secret(Workbench.otherPasscode))
        #expect(try head(of: again).note == note)
        // A head of a longer log verifies with the same key, and an altered one does not.
        _ = try again.anchorLog([link(3)])
        let later = try head(of: again).note
        #expect(later.head?.number == 3 && keys.first?.verifies(later) == true)
        #expect(keys.first?.verifies(SignedNote(text: later.text, signatures: note.signatures)) == false)
    }

    @Test("A locked enclave signs no head, and other devices and users have other keys")
    func locked() throws {
        let vault = try Workbench().startProtected()
        let (note, keys) = try head(of: vault)
        try vault.lock()
        #expect(refusal { _ = try vault.signLogHead(LogHeadRequest()) }?.reason == .locked)
        #expect(refusal { _ = try vault.signLogHead(LogHeadRequest(cosigning: note.bytes)) }?.reason == .locked)
        let other = try Workbench(device: 9).startProtected()
        let (foreign, otherKeys) = try head(of: other)
        #expect(foreign.head?.device != note.head?.device && Set(otherKeys).isDisjoint(with: keys))
        let user = try head(of: Workbench().start(Workbench.user + 1))
        #expect(user.note.head?.device == note.head?.device && user.keys.first?.publicKey != keys.first?.publicKey)
    }

    @Test("A key from before the first passcode no longer signs, but still verifies")
    func firstPasscode() throws {
        let vault = Workbench().start()
        _ = try vault.makeSeriesKey()
        let (before, _) = try head(of: vault)
        try vault.setPasscode(secret(Workbench.passcode))
        let (after, keys) = try head(of: vault)
        #expect(keys.count == 2 && keys[0].verifies(after) && !keys[0].verifies(before) && keys[1].verifies(before))
    }

    @Test("After an erasure another key signs, and the head keeps its number")
    func erasure() throws {
        let vault = try Workbench().startProtected()
        _ = try vault.anchorLog([link(1)])
        let (before, _) = try head(of: vault)
        try vault.erase(secret(Workbench.passcode))
        let (after, keys) = try head(of: vault)
        #expect(after.head?.number == 1 && after.head?.isStart == true && !keys.contains { $0.verifies(before) })
    }

    @Test("The enclave cosigns the head of another device once, with the time, and nothing else")
    func cosigns() throws {
        let (own, other) = (try Workbench().startProtected(), try Workbench(device: 9).startProtected())
        _ = try other.anchorLog([link(1)])
        let (note, keys) = try head(of: other)
        let first = try own.signLogHead(LogHeadRequest(cosigning: note.bytes))
        let again = try #require(SignedNote(try own.signLogHead(LogHeadRequest(cosigning: first.note)).note))
        #expect(again.text == note.text && again.signatures.count == 2 && keys[0].verifies(again))
        let cosigner = try #require(NoteKey(text: first.cosigner.text))
        #expect(cosigner.cosignatureTime(in: again) != nil && !cosigner.verifies(again))
        // A signature of one kind is not valid as the other kind.
        let asText = NoteKey(name: cosigner.name, kind: .text, publicKey: cosigner.publicKey)
        #expect(!asText.verifies(again))
        let ownHead = try head(of: own).note
        let many = SignedNote(text: note.text, signatures: (0..<16).map { .init(name: "a\($0)", key: [1, 2, 3, 4], bytes: [5]) })
        let altered = SignedNote(text: note.text + "more\n", signatures: note.signatures)
        for bytes in [ownHead.bytes, many.bytes, altered.bytes, Array(note.text.utf8), [], [0xFF, 0x0A]] {
            #expect(refusal { _ = try own.signLogHead(LogHeadRequest(cosigning: bytes)) }?.reason == .badParameter)
        }
    }
}
