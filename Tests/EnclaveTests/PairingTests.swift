import Crypto
import Enclave
import EnclaveBook
import EnclaveWire
import Foundation
import Testing
import VaubanDER
import VaubanRefusal
import VaubanSecretBytes

/// The reader's reports count under the key of its pairing, and under no other.
@Suite struct PairingTests {
    private let bench = Workbench()
    private static let file = "4294967295/pairing"

    private func verdict(
        _ key: borrowing SecretBytes, _ outcome: ReaderVerdict.Outcome = .matched, label: String = "vauban reader verdict v1"
    ) -> ReaderVerdict {
        let nonce = [UInt8](repeating: 3, count: 32)
        let covered = Array(label.utf8) + [0, UInt8(outcome.rawValue)] + ByTheBook.bigEndian(Workbench.user) + nonce + Sample.fingers
        let code = key.withUnsafeBytes { Array(HMAC<SHA256>.authenticationCode(for: covered, using: SymmetricKey(data: $0))) }
        return ReaderVerdict(outcome: outcome, user: Workbench.user, nonce: nonce, fingers: Sample.fingers, code: code)
    }

    private func pairNew(_ pairing: Pairing, isPaired: Bool = false) throws -> HeldSecret {
        guard case .new(let key) = try pairing.handleHello(isPaired: isPaired) else { throw Refusal(.internalError, "it was known") }
        return key
    }

    private func isKnown(_ pairing: Pairing) throws -> Bool {
        if case .known = try pairing.handleHello(isPaired: true) { return true }
        return false
    }

    @Test("A reader is paired once and recognized after a restart") func readerIsPairedOnceAndRecognizedAfterARestart() throws {
        let first = Pairing(host: bench.host)
        let key = try pairNew(first)
        #expect(first.authenticates(verdict(key.secret)))
        let restarted = Pairing(host: bench.host)
        #expect(!restarted.authenticates(verdict(key.secret)))
        #expect(try isKnown(restarted) && restarted.authenticates(verdict(key.secret)))
        // The file does not reveal it, and no user owns it.
        #expect(bench.store.files.keys.sorted() == [Self.file])
        let stored = Data(try #require(bench.store.files[Self.file]))
        #expect(stored.range(of: Data(bytes(key.secret))) == nil)
    }

    @Test("A verdict under another key or with other content is rejected") func messageUnderAnotherKeyIsRefused() throws {
        let pairing = Pairing(host: bench.host)
        let key = try pairNew(pairing)
        let good = verdict(key.secret)
        #expect(pairing.authenticates(good))
        #expect(!pairing.authenticates(verdict(SecretBytes(copying: [UInt8](repeating: 1, count: 32)))))
        #expect(!pairing.authenticates(verdict(key.secret, label: "vauban reader verdict v2")))
        let nonce = [UInt8](repeating: 4, count: 32)
        let changed = [
            ReaderVerdict(outcome: .enrolled, user: good.user, nonce: good.nonce, fingers: good.fingers, code: good.code),
            ReaderVerdict(outcome: good.outcome, user: 1001, nonce: good.nonce, fingers: good.fingers, code: good.code),
            ReaderVerdict(outcome: good.outcome, user: good.user, nonce: nonce, fingers: good.fingers, code: good.code),
            ReaderVerdict(outcome: good.outcome, user: good.user, nonce: good.nonce, fingers: Sample.otherFingers, code: good.code),
            ReaderVerdict(outcome: good.outcome, user: good.user, nonce: good.nonce, fingers: good.fingers),
        ]
        for word in changed { #expect(!pairing.authenticates(word)) }
    }

    @Test("A reader without its key is paired again, and the old key becomes void") func aReaderWithoutItsKeyIsPairedAnewAndTheOldKeyEnds()
        throws
    {
        let pairing = Pairing(host: bench.host)
        let old = try pairNew(pairing), new = try pairNew(pairing)
        for same in [pairing, Pairing(host: bench.host)] {
            #expect(try isKnown(same))
            #expect(!same.authenticates(verdict(old.secret)) && same.authenticates(verdict(new.secret)))
        }
    }

    @Test("A lost or damaged pairing record is replaced; a later version's stays") func aLostOrDamagedRecordPairsAnewAndALaterOneStays()
        throws
    {
        _ = try pairNew(Pairing(host: bench.host))
        let good = try #require(bench.store.files[Self.file])
        for bad in [nil, [], Array(good.dropLast()), good + [0]] as [[UInt8]?] {
            bench.store.files[Self.file] = bad
            _ = try pairNew(Pairing(host: bench.host), isPaired: true)
        }
        let other = Workbench(files: bench.store.files, device: 2)
        _ = try pairNew(Pairing(host: other.host), isPaired: true)
        // Version 2 of the record, and of its envelope.
        struct Later: DERWritable {
            func write(into der: inout DERWriter) throws {
                try der.sequence {
                    try $0.integer(2); try $0.octets([1])
                }
            }
        }
        var envelope = good
        envelope[4] = 2
        #expect(Array(good[0..<5]) == [0x30, good[1], 2, 1, 1])
        try bench.put(Later(), as: .pairing, of: UInt32.max)
        for later in [try #require(bench.store.files[Self.file]), envelope] {
            bench.store.files[Self.file] = later
            #expect(refusal { _ = try Pairing(host: bench.host).handleHello(isPaired: true) }?.reason == .stateUnreadable)
            #expect(bench.store.files[Self.file] == later)
        }
    }

    @Test("A pairing that cannot be stored fails", arguments: [StateError.full, .failed("broken"), .unsure("the folder does not sync")])
    func pairingThatCannotBeStoredFails(_ fault: StateError) throws {
        bench.store.fail(.pairing, with: fault)
        let pairing = Pairing(host: bench.host)
        #expect(refusal { _ = try pairing.handleHello(isPaired: false) } != nil)
        bench.store.fail(.pairing, with: nil)
        bench.store.failReading(with: .failed("a bad sector"))
        #expect(refusal { _ = try pairing.handleHello(isPaired: true) }?.reason == .storageFailed)
    }
}
