import Keychain
import KeychainStore
import Testing
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanSecretBytes

@Suite struct FormTests {
    @Test("Padding rounds up and is removed", arguments: 0...100)
    func paddingRoundsUpAndIsRemoved(_ count: Int) {
        let bytes = [UInt8](repeating: 0x80, count: count)
        let padded = Padding.pad(bytes)
        #expect(padded.count % 32 == 0 && padded.count > count && padded.count <= count + 32)
        #expect(padded.withUnsafeBytes { Padding.end(of: $0) } == count)
    }

    @Test("Wrong padding is rejected") func wrongPaddingIsRejected() {
        let wrong: [[UInt8]] = [
            [], [0x80], [UInt8](repeating: 0, count: 32), [UInt8](repeating: 1, count: 32), [0x80] + [UInt8](repeating: 0, count: 63),
        ]
        for bytes in wrong { #expect(bytes.withUnsafeBytes { Padding.end(of: $0) } == nil) }
    }

    @Test("An empty value differs from an absent one") func emptyValueDiffersFromAbsentOne() throws {
        let nothing = SecretBytes(count: 0) { _ in }
        let empty = PaddedValue(hasValue: true, nothing)
        let absent = PaddedValue(hasValue: false, nothing)
        let (emptyHasValue, absentHasValue) = (empty.hasValue, absent.hasValue)
        #expect(emptyHasValue && !absentHasValue)
        let readHasValue = PaddedValue(decrypted: absent.bytes.duplicate())?.hasValue
        #expect(readHasValue == false)
        // An absent value with bytes, and an invalid flag.
        for front: [UInt8] in [[0, 1, 0x80], [2, 0x80]] {
            let bytes = front + [UInt8](repeating: 0, count: 32 - front.count)
            let isRefused = PaddedValue(decrypted: SecretBytes(bytes)) == nil
            #expect(isRefused)
        }
    }

    @Test("A blind list contains exactly its entries") func blindListContainsExactlyItsEntries() {
        func entry(_ letter: String, _ byte: UInt8) -> [UInt8] { Array(letter.utf8) + [UInt8](repeating: byte, count: 8) }
        let list = entry("acct", 1) + entry("labl", 2) + entry("svce", 3)
        func contains(_ wanted: [UInt8], in list: [UInt8]) -> Bool { list.withUnsafeBytes { BlindList.contains($0, wanted) } }
        #expect(contains([], in: list))
        #expect(contains(list, in: list))
        #expect(contains(entry("labl", 2), in: list))
        #expect(contains(entry("acct", 1) + entry("svce", 3), in: list))
        #expect(!contains(entry("labl", 3), in: list))
        #expect(!contains(entry("acct", 1) + entry("zzzz", 3), in: list))
        #expect(!contains(entry("acct", 1), in: []))
        #expect(!contains(entry("acct", 1), in: [UInt8](list.dropLast())))
        // The name counts, and the same bytes elsewhere do not.
        let hidden = entry("acct", 1) + Array("labl".utf8) + Array("ssatssat".utf8)
        #expect(BlindList.hasEntry(named: "labl", in: hidden) && BlindList.hasEntry(named: "svce", in: list))
        #expect(!BlindList.hasEntry(named: "ssat", in: hidden) && !BlindList.hasEntry(named: "ssat", in: []))
    }

    @Test("The terms of a search include implied attributes") func termsIncludeImpliedAttributes() throws {
        let terms = try QueryGrammar.terms(of: ItemQuery(kind: .genericPassword), for: .everything)
        #expect(terms.attributes == ItemAttributes([.synchronizable: .number(0)]))
        var any = ItemQuery(kind: .genericPassword)
        any.includesSynchronizable = true
        #expect(try QueryGrammar.terms(of: any, for: .everything).attributes[.synchronizable] == nil)
        let named = ItemQuery(kind: .internetPassword, attributes: ItemAttributes([.synchronizable: .text("1"), .port: .text("443")]))
        #expect(try QueryGrammar.terms(of: named, for: .everything).attributes[.synchronizable] == .number(1))
        #expect(try QueryGrammar.terms(of: named, for: .everything).attributes[.port] == .number(443))
    }

    @Test("Arguments of keychaind are parsed strictly") func argumentsAreParsedStrictly() throws {
        let right = ["--state", "/s", "--enclave-folder", "/e", "--enclave-uid", "7"]
        #expect(try KeychainRoom.Arguments(right)?.enclaveUID == 7)
        #expect(try KeychainRoom.Arguments(Array(right.reversed())) == nil)
        #expect(try KeychainRoom.Arguments(right + ["--more"]) == nil)
        #expect(try KeychainRoom.Arguments(["--state", "s", "--enclave-folder", "/e", "--enclave-uid", "7"]) == nil)
        #expect(try KeychainRoom.Arguments(["--state", "/s", "--enclave-folder", "/e", "--enclave-uid", "-1"]) == nil)
    }
}
