import EnclaveWire
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanAuthenticationWire
import VaubanDER
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanRefusal
import VaubanUserModel
import VaubanUserWire

/// Every message of the three wires: it decodes to the same value, and no other bytes do.
@Suite struct WireTests {
    @Test("A message decodes to what was encoded", arguments: WireSample.all)
    func messageDecodesToWhatWasEncoded(_ sample: WireSample) throws {
        #expect(!sample.bytes.isEmpty && sample.readsBackEqual)
        #expect(try sample.again(sample.bytes) == sample.bytes)
    }

    @Test("A truncated message is refused", arguments: WireSample.all) func truncatedMessageIsRefused(_ sample: WireSample) {
        for count in 0..<sample.bytes.count {
            #expect(throws: (any Error).self) { try sample.again(Array(sample.bytes.prefix(count))) }
        }
        for surplus in [[0], [0x30, 0], sample.bytes] as [[UInt8]] {
            #expect(throws: (any Error).self) { try sample.again(sample.bytes + surplus) }
        }
    }

    /// Altered bytes are refused, or are the one encoding of another value.
    @Test("No message has two encodings", arguments: WireSample.all) func everyValueHasOneEncoding(_ sample: WireSample) {
        for index in sample.bytes.indices {
            for mask in [0x01, 0x20, 0x80, 0xFF] as [UInt8] {
                var altered = sample.bytes
                altered[index] ^= mask
                if let written = try? sample.again(altered) { #expect(written == altered) }
            }
        }
    }

    /// Returns SEQUENCE { version, [number] {} }.
    private func call(version: UInt8, _ number: UInt8) -> [UInt8] { [0x30, 5, 2, 1, version, 0xA0 + number, 0] }

    @Test("An unknown request is refused by name") func anUnknownRequestIsRefusedByName() {
        let wires: [(name: String, version: UInt8, read: ([UInt8]) throws -> Void)] = [
            ("enclave", 2, { _ = try EnclaveRequest(derBytes: $0) }), ("keychain", 1, { _ = try KeychainRequest(derBytes: $0) }),
            ("user", 2, { _ = try UserRequest(derBytes: $0) }), ("agent", 1, { _ = try AgentMessage(derBytes: $0) }),
        ]
        for wire in wires {
            let refusal = #expect(throws: Refusal.self) { try wire.read(call(version: wire.version, 30)) }
            #expect(refusal?.reason == .unknownRequest)
            #expect(refusal?.detail?.hasPrefix(wire.name) == true && refusal?.detail?.contains("30") == true)
            // Another version is reported before the call is examined.
            for other in [wire.version - 1, wire.version + 1] {
                let fault = #expect(throws: (any Error).self) { try wire.read(call(version: other, 0)) }
                #expect(fault.map { "\($0)".contains("version") } == true)
            }
        }
    }

    /// The enclave's own purpose cannot be requested.
    @Test("A challenge for a prompt cannot be requested") func challengeOfAPromptCannotBeRequested() throws {
        let asked = try EnclaveRequest.user(.challenge(.prompt)).encoded()
        #expect(throws: (any Error).self) { try EnclaveRequest(derBytes: asked) }
        #expect(throws: (any Error).self) { try UserRequest(derBytes: UserRequest.challenge(.prompt).encoded()) }
    }

    /// A passcode that is sealed for another purpose would unlock, or change, what no prompt shows.
    @Test("A prompt with a challenge for another purpose is refused", arguments: (1...10).compactMap(PasscodePurpose.init))
    func promptsHaveTheirOwnPurpose(_ purpose: PasscodePurpose) throws {
        let request = PromptRequest(
            prompt: [UInt8](repeating: 6, count: 16), user: 1000,
            challenge: PasscodeChallenge(nonce: [UInt8](repeating: 7, count: 32), purpose: purpose),
            caller: CallerName(pid: 8, path: nil), operation: .unlock, reason: nil, attempt: 1, attemptsLeft: 5)
        let bytes = try AgentNotice.ask(request).encoded()
        if purpose == .prompt {
            #expect(try AgentNotice(derBytes: bytes) == .ask(request))
        } else {
            #expect(throws: (any Error).self) { try AgentNotice(derBytes: bytes) }
        }
    }

    @Test("An access control of another class is refused") func aControlOfAnotherClassIsRefused() throws {
        let other = try AccessControl(protection: .always, flags: [])
        let row = WireSample.row
        let mixed = RowBinding(
            user: row.user, protection: row.protection, generation: row.generation, item: row.item, version: row.version,
            kind: row.kind,
            accessGroup: row.accessGroup, accessControl: other)
        #expect(throws: (any Error).self) { try RowBinding(derBytes: mixed.encoded()) }
    }

    @Test("The context of a passcode's seal is label, purpose, user and nonce") func sealInfoConsistsOfLabelPurposeUserAndNonce() {
        let challenge = PasscodeChallenge(nonce: [UInt8](repeating: 7, count: 32), purpose: .prompt)
        #expect(challenge.sealInfo(user: 0x0102_0304) == Array("vauban passcode v1".utf8) + [0, 4, 1, 2, 3, 4] + challenge.nonce)
    }

    @Test("The code writes the examples of Specs/enclave-wire.md") func codeWritesTheExamplesOfTheSpecification() throws {
        let document = try SpecDocument("enclave-wire")
        #expect(try document.example("seal request") == EnclaveRequest.seal(WireSample.row).encoded())
        #expect(try document.example("sealed reply") == EnclaveReply.sealed(wrapped: [0xAA, 0xBB, 0xCC]).encoded())
        let refusal = Refusal(.authenticationFailed, "the passcode is wrong", attemptsLeft: 4, secondsToWait: 0)
        #expect(try document.example("refused reply") == EnclaveReply.refused(refusal).encoded())
        #expect(try document.example("screen locked event") == DeviceEvent(number: 7, .screenLocked(user: 1000)).encoded())
    }

    @Test("The code writes the examples of Specs/reader.md") func codeWritesTheExamplesOfTheReader() throws {
        let document = try SpecDocument("reader")
        #expect(try document.example("hello") == ReaderReport.hello(isPaired: false).encoded())
        #expect(try document.example("pair") == ReaderNotice.pair.encoded())
        let report = try ReaderReport(derBytes: document.example("verdict"))
        guard case .verdict(let verdict) = report else {
            Issue.record("the example is no verdict")
            return
        }
        #expect(try report.encoded() == document.example("verdict"))
        #expect(verdict.outcome == .matched && verdict.user == 1000)
        #expect(try document.example("covered") == verdict.covered)
        #expect(try document.example("ask") == ReaderNotice.ask(user: verdict.user, nonce: verdict.nonce).encoded())
    }

    @Test("A long detail is shortened to fit") func aLongDetailIsCutSoThatItFits() throws {
        let refusal = Refusal(.unavailable, String(repeating: "ä", count: 1000))
        let read = try Refusal(derBytes: refusal.encoded())
        #expect(read.reason == .unavailable && read.detail?.isEmpty == false)
    }

    @Test("A detail of multibyte characters is shortened too") func aDetailOfManyByteCharactersIsCutToo() throws {
        let refusal = Refusal(.unavailable, String(repeating: "👨‍👩‍👧‍👦", count: 100))
        let read = try Refusal(derBytes: refusal.encoded())
        #expect(read.reason == .unavailable)
        #expect(read.detail?.isEmpty == false)
    }

    @Test("The bound for the bytes of a found item is never below its size") func boundOfAFoundItemHolds() throws {
        let values: [AttributeValue] = [
            .text(""), .number(.min), .number(.max), .date(.min), .data([UInt8](repeating: 1, count: 127)),
            .data([UInt8](repeating: 1, count: 256)), .text(String(repeating: "\u{E4}", count: 32_768)),
        ]
        let control = try AccessControl(protection: .whenUnlocked, flags: .userPresence)
        for value in values {
            for names in [[], [AttributeName.service], [.service, .account, .label, .comment, .generic]] {
                let attributes = ItemAttributes(Dictionary(uniqueKeysWithValues: names.map { ($0, value) }))
                let record = ItemRecord(kind: .genericPassword, attributes: attributes, accessControl: control)
                let item = FoundItem(
                    record: record, hasData: true, reference: [UInt8](repeating: 1, count: 16),
                    certificate: [UInt8](repeating: 1, count: FoundItem.certificateBytesMax))
                #expect(try item.encoded().count <= item.encodedBytesMax)
            }
        }
        let bare = FoundItem(record: nil, hasData: false)
        #expect(try bare.encoded().count <= bare.encodedBytesMax)
    }
}
