import Crypto
import Testing
import VaubanCommands
import VaubanDER
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes
import VaubanSyncModel
import VaubanUserModel

/// What passes between a device that forwards its prompts and one that shows them (Specs/forwarded-prompts.md). The vectors have what is
/// refused.
@Suite struct ForwardedPromptTests {
    private let enclave = Curve25519.Signing.PrivateKey()
    private let key = Curve25519.Signing.PrivateKey()
    private let files = FrameCipher(SecretBytes(copying: [UInt8](repeating: 1, count: 32)))
    private let device = [UInt8](repeating: 2, count: 16)
    private let circle = [UInt8](repeating: 3, count: 16)

    private var member: CircleMember {
        CircleMember(device: device, name: "server", verification: Array(enclave.publicKey.rawRepresentation))
    }

    private func view(epoch: Int64 = 1) -> CircleView {
        CircleView(
            device: device, circle: circle, number: 1, digest: [UInt8](repeating: 0, count: 32), epoch: epoch, members: [member])
    }

    private func forwarder(in view: CircleView) throws -> ForwarderFile {
        let card = EnclaveKeyCard(publicKey: [UInt8](repeating: 4, count: 32))
        let verification = Array(key.publicKey.rawRepresentation)
        let file = ForwarderFile(epoch: view.epoch, time: 5, card: card, verification: verification)
        let digest = ForwarderFile.digest(of: device, in: view, time: 5, verification: verification)
        let signed = Array("vauban sync key card v1".utf8) + [0] + circle + device + card.publicKey + digest
        return try ForwarderFile.opened(file.bytes(signature: Array(try enclave.signature(for: signed))), of: member, in: view)
    }

    private var request: PromptRequest {
        PromptRequest(
            prompt: [UInt8](repeating: 6, count: 16), user: 1000,
            challenge: PasscodeChallenge(nonce: [UInt8](repeating: 7, count: 32), purpose: .prompt),
            caller: CallerName(pid: 8, path: "/usr/bin/tool"), operation: .readItem, reason: "for a test", attempt: 1, attemptsLeft: 5)
    }

    @Test("A prompt, its end and its answer are read as they were written") func roundTrip() throws {
        let view = view()
        let forwarder = try forwarder(in: view)
        let cipher = forwarder.cipher(of: device, in: view, files)
        for (number, state) in [(1, ForwardedPrompt.State.asked(request)), (2, .ended(.accepted))] {
            let prompt = ForwardedPrompt(number: Int64(number), time: 9, state)
            let bytes = try prompt.sealed(of: device, in: view, cipher, signing: key)
            #expect(ForwardedPrompt.opened(bytes, of: device, in: view, under: cipher, by: forwarder) == prompt)
        }
        let answer = ForwardedAnswer(to: request.challenge.nonce, .fallback)
        #expect(ForwardedAnswer.opened(try answer.sealed(for: device, cipher), for: device, cipher) == answer)
    }

    @Test("A forwarder under an earlier key of the circle is refused, since a removed device has that") func earlierKey() throws {
        let earlier = view(epoch: 1)
        let file = try forwarder(in: earlier)
        let verification = file.verification
        let digest = ForwarderFile.digest(of: device, in: earlier, time: 5, verification: verification)
        let signed = Array("vauban sync key card v1".utf8) + [0] + circle + device + file.card.publicKey + digest
        let bytes = file.bytes(signature: Array(try enclave.signature(for: signed)))
        let error = #expect(throws: Refusal.self) { try ForwarderFile.opened(bytes, of: member, in: view(epoch: 2)) }
        #expect(error?.reason == .keyUnknown)
    }

    @Test("Prompts of one forwarder do not open as those of another device, key or forwarder") func boundToTheirForwarder() throws {
        let view = view()
        let forwarder = try forwarder(in: view)
        let cipher = forwarder.cipher(of: device, in: view, files)
        let bytes = try ForwardedPrompt(number: 1, time: 9, .asked(request)).sealed(of: device, in: view, cipher, signing: key)
        func opens(of device: [UInt8], under keys: ForwarderFile, by signer: ForwarderFile) -> Bool {
            let cipher = keys.cipher(of: device, in: view, files)
            return ForwardedPrompt.opened(bytes, of: device, in: view, under: cipher, by: signer) != nil
        }
        let stranger = ForwarderFile(epoch: 1, time: 5, card: forwarder.card, verification: Array(enclave.publicKey.rawRepresentation))
        #expect(opens(of: device, under: forwarder, by: forwarder))
        #expect(!opens(of: [UInt8](repeating: 10, count: 16), under: forwarder, by: forwarder))
        #expect(!opens(of: device, under: forwarder, by: stranger))
        #expect(!opens(of: device, under: stranger, by: forwarder))
    }

    @Test("The size of a file says nothing of the passcode in it") func sizes() throws {
        let cipher = try forwarder(in: view()).cipher(of: device, in: view(), files)
        let sizes = try [20, 40, 1040].map { count in
            let sealed = SealedPasscode(encapsulated: [UInt8](repeating: 0, count: 32), ciphertext: [UInt8](repeating: 0, count: count))
            return try ForwardedAnswer(to: request.challenge.nonce, .passcode(sealed)).sealed(for: device, cipher).count
        }
        #expect(Set(sizes).count == 1)
    }
    @Test("A prompt whose device stops reporting ends at the user's timeout") func silentDevice() throws {
        let wakeup = try Wakeup()
        let over = try ForwardedWithdrawal(wakeup, until: MachineClock.boot + 1_000_000) { false }
        #expect(wakeup.wait(until: .max) == .signaled)
        #expect(over.isWithdrawn())
        let open = try ForwardedWithdrawal(wakeup, until: MachineClock.boot + 3_600_000_000_000) { false }
        #expect(!open.isWithdrawn())
    }
}
