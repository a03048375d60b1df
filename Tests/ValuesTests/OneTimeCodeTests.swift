import TestSupport
import Testing
import VaubanOneTimeCodes
import VaubanSecretBytes

/// RFC 4226 and RFC 6238, with every value that they publish.
@Suite struct OneTimeCodeTests {
    private static func text(_ secret: borrowing SecretBytes) -> String { secret.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }

    private static func secret(_ count: Int) -> SecretBytes {
        SecretBytes(copying: (0..<count).map { UInt8(ascii: "0") + UInt8(($0 + 1) % 10) })
    }

    private static func address(_ text: String) throws -> OneTimeCodeAddress {
        let bytes = SecretBytes(copying: Array(text.utf8))
        return try bytes.withUnsafeBytes { bytes throws(OneTimeCodeError) in try OneTimeCodeAddress(bytes) }
    }

    private static func decoded(_ text: borrowing SecretBytes) -> [UInt8]? {
        guard let bytes = text.withUnsafeBytes({ Base32.decode($0) }) else { return nil }
        return bytes.withUnsafeBytes { Array($0) }
    }

    private static func error(_ text: String) -> OneTimeCodeError? {
        do {
            _ = try address(text)
            return nil
        } catch {
            return error as? OneTimeCodeError
        }
    }

    @Test("The ten codes of RFC 4226, appendix D, are computed")
    func hotpVectors() {
        let codes = ["755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489"]
        let key = OneTimeCodeKey(Self.secret(20), movement: .counter(first: 0))
        for (counter, code) in codes.enumerated() { #expect(Self.text(key.code(at: UInt64(counter))) == code) }
    }

    private static let totpVectors: [(time: Int64, codes: [String])] = [
        (59, ["94287082", "46119246", "90693936"]), (1_111_111_109, ["07081804", "68084774", "25091201"]),
        (1_111_111_111, ["14050471", "67062674", "99943326"]), (1_234_567_890, ["89005924", "91819424", "93441116"]),
        (2_000_000_000, ["69279037", "90698825", "38618901"]), (20_000_000_000, ["65353130", "77737706", "47863826"]),
    ]

    @Test("The eighteen codes of RFC 6238, appendix B, are computed", arguments: totpVectors)
    func totp(time: Int64, codes: [String]) {
        let kinds: [(OneTimeCodeKey.Algorithm, Int)] = [(.sha1, 20), (.sha256, 32), (.sha512, 64)]
        for ((algorithm, count), code) in zip(kinds, codes) {
            let key = OneTimeCodeKey(Self.secret(count), algorithm: algorithm, form: .digits(8))
            #expect(key.step(at: time).map { Self.text(key.code(at: $0)) } == code)
        }
    }

    @Test("A time before 1970 belongs to the step below")
    func negativeTimes() {
        let key = OneTimeCodeKey(Self.secret(20))
        #expect(key.step(at: -1) == UInt64.max && key.step(at: -30) == UInt64.max && key.step(at: -31) == UInt64.max - 1)
        #expect(key.secondsLeft(at: -1) == 1 && key.secondsLeft(at: 0) == 30 && key.secondsLeft(at: 29) == 1)
    }

    @Test("An address contains its account, issuer, algorithm, digits and period")
    func wholeAddress() throws {
        let address = try Self.address(
            "otpauth://totp/ACME%20Co:john.doe@email.com?secret=HXDMVJECJJWSRB3HWIZR4IFUGFTMXBOZ&issuer=ACME%20Co"
                + "&algorithm=SHA256&digits=8&period=60"
        )
        #expect(address.issuer == "ACME Co" && address.account == "john.doe@email.com")
        #expect(address.key.algorithm == .sha256 && address.key.form == .digits(8) && address.key.movement == .time(periodSeconds: 60))
    }

    @Test("Missing parts of an address have the defaults of the format, and its type may be in capitals")
    func defaults() throws {
        let address = try Self.address("OTPAUTH://TOTP/anna?secret=gezd%20gnbv".replacing("%20", with: "-"))
        #expect(address.issuer == "" && address.account == "anna")
        #expect(address.key.algorithm == .sha1 && address.key.form == .digits(6) && address.key.movement == .time(periodSeconds: 30))
        let counting = try Self.address("otpauth://hotp/X:%20anna?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=7")
        #expect(counting.issuer == "X" && counting.account == "anna" && counting.key.movement == .counter(first: 7))
    }

    @Test("Spaces and letters beyond ASCII need no escape in label and issuer")
    func plainTexts() throws {
        for text in ["otpauth://totp/Größte Bank: Änne B?secret=AA", "otpauth://totp/Änne B?secret=AA&issuer=Größte Bank"] {
            let address = try Self.address(text)
            #expect(address.issuer == "Größte Bank" && address.account == "Änne B", "\(text)")
        }
        let plain = try Self.address("otpauth://totp/a?secret=AA")
        #expect(try Self.address("otpauth://totp/a?secret=A A").key.isSame(as: plain.key))
    }

    @Test("An empty issuer equals an absent one", arguments: ["issuer=", "issuer", "ISSUER="])
    func emptyIssuer(parameter: String) throws {
        #expect(try Self.address("otpauth://totp/ACME:anna?secret=AA&\(parameter)").issuer == "ACME")
        #expect(try Self.address("otpauth://totp/anna?secret=AA&\(parameter)").issuer == "")
    }

    @Test("The error for a label or an issuer that is not UTF-8 names it")
    func textsAreUTF8() {
        func error(_ bytes: [UInt8]) -> OneTimeCodeError? {
            let text = SecretBytes(copying: bytes)
            do throws(OneTimeCodeError) {
                _ = try text.withUnsafeBytes { bytes throws(OneTimeCodeError) in try OneTimeCodeAddress(bytes) }
                return nil
            } catch {
                return error
            }
        }
        #expect(error(Array("otpauth://totp/a".utf8) + [0xFF] + Array("?secret=AA".utf8)) == .badValue("label"))
        #expect(error(Array("otpauth://totp/a?secret=AA&issuer=".utf8) + [0xC3]) == .badValue("issuer"))
    }

    @Test("Codes of Steam have five characters of its alphabet")
    func steam() throws {
        let address = try Self.address("otpauth://totp/Steam:anna?secret=ONSWG4TFORZXI4TFMFWQ&issuer=Steam&digits=5")
        #expect(address.key.form == .steam)
        let code = Self.text(address.key.code(at: 1))
        #expect(code.count == 5 && code.allSatisfy { "23456789BCDFGHJKMNPQRTVWXY".contains($0) })
    }

    /// Codes that Steam's own application gave for a test account; KeePassXC publishes them (tests/TestTotp.cpp).
    private static let steamVectors: [(time: Int64, code: String)] = [(1_511_200_518, "FR8RV"), (1_511_200_714, "9P3VP")]

    @Test("The codes of Steam are those of its application", arguments: steamVectors)
    func steamCodes(time: Int64, code: String) throws {
        let address = try Self.address("otpauth://totp/Steam:anna?secret=63BEDWCQZKTQWPESARIERL5DTTQFCJTK&encoder=steam")
        let computed = address.key.step(at: time).map { Self.text(address.key.code(at: $0)) }
        #expect(computed == code)
    }

    @Test("The key's padding and spaces may be percent escapes")
    func escapedSecret() throws {
        let plain = try Self.address("otpauth://totp/a?secret=JBSWY3DPEHPK3PXP")
        for escaped in ["JBSWY3DPEHPK3PXP%3D%3d", "JBSW%20Y3DP%20EHPK%203PXP", "%4ABSWY3DPEHPK3PXP"] {
            #expect(try Self.address("otpauth://totp/a?secret=\(escaped)").key.isSame(as: plain.key), "\(escaped)")
        }
        for bad in ["JBSWY3DP%", "JBSWY3DP%3", "JBSWY3DP%zz", "%%%", "JBSWY3DP%3%3D", "JBSWY3DP%31", "%3D", "JBSWY3DP%253D"] {
            #expect(Self.error("otpauth://totp/a?secret=\(bad)") == .badSecret, "\(bad)")
        }
    }

    @Test(
        "Each kind of invalid address has its error",
        arguments: [
            ("https://example.com/", OneTimeCodeError.notAnAddress), (" otpauth://totp/a?secret=AA", .notAnAddress),
            ("otpauth://totp/a\tb?secret=AA", .controlCharacter), ("otpauth://totp/a?secret=AA\n", .controlCharacter),
            ("otpauth://totp/a?secret=AÄ", .badSecret), ("otpauth://totp/a?secret=AA&digits=6 ", .badValue("digits")),
            ("otpauth://sotp/a?secret=GEZDGNBV", .unknownType("sotp")), ("otpauth://totp", .missing("secret")),
            ("otpauth://totp/a", .missing("secret")), ("otpauth://totp/a?issuer=x", .missing("secret")),
            ("otpauth://totp/a?secret=", .badSecret), ("otpauth://totp/a?secret=ABC1", .badSecret),
            ("otpauth://totp/a?secret=GEZDGNB", .badSecret), ("otpauth://totp/a?secret=GEZDGNBV&secret=AA", .twice("secret")),
            ("otpauth://totp/a:b:c?secret=GEZDGNBV", .badValue("label")), ("otpauth://totp/%FF?secret=GEZDGNBV", .badValue("label")),
            ("otpauth://totp/a%0Ab?secret=GEZDGNBV", .badValue("label")),
            ("otpauth://totp/a?secret=GEZDGNBV&digits=9", .badValue("digits")),
            ("otpauth://totp/a?secret=GEZDGNBV&digits=+6", .badValue("digits")),
            ("otpauth://totp/a?secret=GEZDGNBV&period=0", .badValue("period")),
            ("otpauth://totp/a?secret=GEZDGNBV&period=99999999999999999999", .badValue("period")),
            ("otpauth://totp/a?secret=GEZDGNBV&algorithm=MD5", .badValue("algorithm")),
            ("otpauth://hotp/a?secret=GEZDGNBV", .missing("counter")),
            ("otpauth://hotp/a?secret=GEZDGNBV&counter=-1", .badValue("counter")),
        ])
    func badAddresses(text: String, wanted: OneTimeCodeError) { #expect(Self.error(text) == wanted) }

    @Test("An address longer than the limit is refused")
    func longAddress() {
        #expect(Self.error("otpauth://totp/a?secret=" + String(repeating: "A", count: OneTimeCodeAddress.bytesMax)) == .tooLong)
    }

    @Test("Base32 decodes to what was encoded, at every length")
    func base32() {
        for count in 0..<64 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }
            let text = SecretBytes(copying: bytes).withUnsafeBytes { Base32.encode($0) }
            #expect(Self.decoded(text) == bytes)
        }
        let sample = SecretBytes(copying: Array("JBSW Y3DP-EHPK 3PXP=".utf8))
        #expect(Self.decoded(sample) == [0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x21, 0xDE, 0xAD, 0xBE, 0xEF])
    }

    @Test("A truncated migration message is refused or shorter, and never traps")
    func truncatedMigration() throws {
        let whole: [UInt8] = [0x0A, 0x11, 0x0A, 0x03, 1, 2, 3, 0x12, 0x04, 0x61, 0x6E, 0x6E, 0x61, 0x20, 1, 0x28, 1, 0x30, 2, 0x10, 1]
        var names: [String] = []
        _ = try whole.withUnsafeBytes { try MigrationCodes.forEachAccount(in: $0) { names.append($0.name) } }
        #expect(names == ["anna"])
        for count in 0..<whole.count {
            whole.prefix(count).withUnsafeBytes { bytes in
                do { try MigrationCodes.forEachAccount(in: bytes) { _ in } } catch { #expect(error as? OneTimeCodeError == .notAnAddress) }
            }
        }
    }
}
