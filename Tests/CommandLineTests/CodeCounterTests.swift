import Testing
import VaubanCommands
import VaubanKeychainModel

/// The counter that a new value gives an item of one-time codes (Specs/item-attributes.md).
@Suite struct CodeCounterTests {
    private static let hotp = "otpauth://hotp/R:anna?secret=GEZDGNBVGY3TQOJQ&counter=7"
    private static let totp = "otpauth://totp/R:anna?secret=GEZDGNBVGY3TQOJQ"

    private func record(_ service: String, counter: String? = nil) -> ItemRecord {
        var attributes = ItemAttributes([.service: .text(service), .account: .text("anna")])
        if let counter { attributes[.generic] = .data(Array(counter.utf8)) }
        return ItemRecord(kind: .genericPassword, attributes: attributes)
    }

    @Test("A new counter-based key replaces the counter of the one before", arguments: [nil, "0", "9000"])
    func counterIsReplaced(counter: String?) {
        let changes = CodeCounter.changes(to: record("otpauth:r", counter: counter), for: secret(Self.hotp))
        #expect(changes == ItemAttributes([.generic: .data(Array("7".utf8))]))
    }

    @Test("A new key that counts nothing clears the counter of the one before", arguments: [totp, "no address"])
    func counterIsCleared(value: String) {
        #expect(CodeCounter.changes(to: record("otpauth:r", counter: "9"), for: secret(value)) == ItemAttributes([.generic: .text("")]))
        #expect(CodeCounter.changes(to: record("otpauth:r"), for: secret(value)).isEmpty)
    }

    @Test("An item that holds no key of codes keeps the data that a program stored with it")
    func otherItemsStay() {
        #expect(CodeCounter.changes(to: record("r", counter: "9"), for: secret(Self.hotp)).isEmpty)
        let attributes = ItemAttributes([.server: .text("otpauth:r"), .account: .text("anna")])
        #expect(CodeCounter.changes(to: ItemRecord(kind: .internetPassword, attributes: attributes), for: secret(Self.hotp)).isEmpty)
    }
}
