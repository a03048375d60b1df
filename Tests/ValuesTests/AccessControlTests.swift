import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanDER

/// The valid access controls, and what each requires of the user (Specs/secitem.md, 8.1, 8.2).
@Suite struct AccessControlTests {
    private static let single: [AccessControlFlags] = [
        .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .companion, .or, .and, .privateKeyUsage, .applicationPassword,
    ]

    /// Every combination of the nine flags.
    static let combinations: [AccessControlFlags] = (0..<(1 << single.count)).map { bits in
        single.indices.reduce(into: []) { flags, index in if bits >> index & 1 == 1 { flags.insert(single[index]) } }
    }

    /// Returns whether the flags are valid by the table's rules, one line each.
    private func exists(_ flags: AccessControlFlags) -> Bool {
        if flags.contains(.or) && flags.contains(.and) { return false }
        if flags.contains(.biometryAny) && flags.contains(.biometryCurrentSet) { return false }
        let withPresence: Set<AccessControlFlags> = [
            .userPresence, [.userPresence, .applicationPassword], [.userPresence, .privateKeyUsage],
            [.userPresence, .applicationPassword, .privateKeyUsage],
        ]
        return !flags.contains(.userPresence) || withPresence.contains(flags)
    }

    @Test("Every combination of flags is accepted or refused by the rules", .proves("C-074"))
    func everyCombinationIsAcceptedOrRefusedByTheRules() {
        #expect(Set(Self.combinations).count == 512)
        for protection in ProtectionClass.allCases {
            for flags in Self.combinations {
                let control = try? AccessControl(protection: protection, flags: flags)
                #expect((control != nil) == exists(flags), "\(flags.rawValue)")
                #expect(control == nil || control?.protection == protection && control?.flags == flags)
            }
        }
    }

    @Test("Each invalid combination of flags has its error") func invalidCombinationsHaveTheirErrors() {
        let faults: [(AccessControlFlags, AccessControlError)] = [
            ([.or, .and], .orWithAnd), ([.biometryAny, .biometryCurrentSet], .twoBiometryFlags),
            ([.userPresence, .devicePasscode], .presenceNotAlone), ([.userPresence, .or], .presenceNotAlone),
            (AccessControlFlags(rawValue: 1 << 2), .unknownFlag), (AccessControlFlags(rawValue: 1 << 40), .unknownFlag),
        ]
        for (flags, fault) in faults {
            #expect(throws: fault) { try AccessControl(protection: .whenUnlocked, flags: flags) }
        }
    }

    @Test("Flags have Apple's bits") func flagsHaveApplesBits() {
        let bits: [UInt64] = [1 << 0, 1 << 1, 1 << 3, 1 << 4, 1 << 5, 1 << 14, 1 << 15, 1 << 30, 1 << 31]
        #expect(Self.single.map(\.rawValue) == bits)
    }

    @Test("Each set of flags has its requirement") func simpleFlagsHaveTheirRequirements() {
        for flags in Self.combinations {
            guard let control = try? AccessControl(protection: .whenUnlocked, flags: flags) else { continue }
            let constraints = flags.subtracting([.or, .and, .applicationPassword])
            let expected: Requirement? =
                switch constraints {
                case []: Requirement.none
                case .userPresence: Requirement(methods: [[.presence]])
                case .devicePasscode: Requirement(methods: [[.passcode]])
                default: nil
                }
            if let expected { #expect(control.requirementToDecrypt == expected, "\(flags.rawValue)") }
        }
    }

    @Test("An access control decodes to what was encoded, and an impossible one is refused")
    func controlDecodesToWhatWasEncoded() throws {
        for protection in ProtectionClass.allCases {
            let control = try AccessControl(protection: protection, flags: [.userPresence])
            #expect(try AccessControl(derBytes: control.encoded()) == control)
        }
        // SEQUENCE { 1, 6, flags }: a combination that cannot be created cannot be read.
        let orAnd: [UInt8] = [0x30, 0x0B, 2, 1, 1, 2, 1, 6, 2, 3, 0x00, 0xC0, 0x00]
        #expect(throws: (any Error).self) { try AccessControl(derBytes: orAnd) }
        let fine: [UInt8] = [0x30, 0x09, 2, 1, 1, 2, 1, 6, 2, 1, 0x10]
        #expect(try AccessControl(derBytes: fine) == AccessControl(protection: .whenUnlocked, flags: .devicePasscode))
    }

    @Test("Protection classes have Apple's codes and numbers") func protectionsHaveApplesCodesAndNumbers() {
        let expected: [(String, Int64, ProtectionClass.Availability)] = [
            ("ak", 6, .unlocked), ("ck", 7, .firstUnlock), ("dk", 8, .always), ("aku", 9, .unlocked), ("cku", 10, .firstUnlock),
            ("dku", 11, .always), ("akpu", 12, .unlocked),
        ]
        #expect(expected.count == ProtectionClass.allCases.count)
        for (code, number, availability) in expected {
            let protection = ProtectionClass(rawValue: code)
            #expect(
                protection?.number == number && protection?.availability == availability && ProtectionClass(number: number) == protection)
            #expect(protection?.needsPasscode == (code == "akpu"))
        }
        #expect(ProtectionClass(rawValue: "f") == nil && ProtectionClass(number: 0) == nil && ProtectionClass(number: 13) == nil)
    }
}
