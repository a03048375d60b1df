import Enclave
import EnclaveWire
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanDER
import VaubanRefusal
import VaubanSecretBytes

/// A row opens exactly as it was made; anything else counts as damage or as a key that does not exist.
@Suite struct RowBindingTests {
    private let bench = Workbench()

    /// The row with one field changed, and the enclave's refusal.
    private struct Change {
        let field: String
        let row: RowBinding
        let reason: Refusal.Reason
    }

    private func changed(
        _ row: RowBinding, user: UInt32? = nil, protection: ProtectionClass? = nil, generation: [UInt8]? = nil, item: [UInt8]? = nil,
        version: [UInt8]? = nil, kind: Int64? = nil, group: String? = nil, control: AccessControl?? = nil, format: RowBinding.Format? = nil
    ) -> RowBinding {
        RowBinding(
            format: format ?? row.format, user: user ?? row.user, protection: protection ?? row.protection,
            generation: generation ?? row.generation,
            item: item ?? row.item, version: version ?? row.version, kind: kind ?? row.kind, accessGroup: group ?? row.accessGroup,
            accessControl: control ?? row.accessControl)
    }

    @Test("A row with a changed field does not open", arguments: [nil, AccessControlFlags.userPresence, .devicePasscode])
    func rowWithAChangedFieldDoesNotOpen(_ flags: AccessControlFlags?) throws {
        let vault = bench.start()
        _ = try vault.lease()
        let older = try #require(try bench.keybag().current(.protection(.whenUnlocked))?.generation)
        try vault.setPasscode(secret(Workbench.passcode))
        let sealed = try SealedRow(bench.row(.whenUnlocked, flags), in: vault)
        let row = sealed.row, bag = try bench.keybag()
        let otherClass = ProtectionClass.afterFirstUnlock
        let otherFlags: AccessControlFlags? = flags == .userPresence ? .devicePasscode : flags == nil ? .userPresence : nil
        let otherControl = try otherFlags.map { try AccessControl(protection: .whenUnlocked, flags: $0) }

        let changes = [
            Change(field: "format", row: changed(row, format: .generationBound), reason: .rowDamaged),
            Change(field: "user", row: changed(row, user: 1001), reason: .badParameter),
            Change(field: "protection", row: changed(row, protection: otherClass), reason: .keyUnknown),
            Change(
                field: "protection",
                row: changed(row, protection: otherClass, generation: try #require(bag.current(.protection(otherClass))).generation),
                reason: .rowDamaged),
            Change(field: "generation", row: changed(row, generation: Sample.lostGeneration), reason: .keyUnknown),
            Change(field: "generation", row: changed(row, generation: older), reason: .rowDamaged),
            Change(field: "item", row: changed(row, item: [UInt8](repeating: 9, count: 16)), reason: .rowDamaged),
            Change(field: "version", row: changed(row, version: [UInt8](repeating: 9, count: 16)), reason: .rowDamaged),
            Change(field: "kind", row: changed(row, kind: 2), reason: .rowDamaged),
            Change(field: "accessGroup", row: changed(row, group: "unsigned "), reason: .rowDamaged),
            Change(field: "accessControl", row: changed(row, control: .some(otherControl)), reason: .rowDamaged),
            Change(
                field: "accessControl",
                row: changed(row, control: .some(flags == nil ? try AccessControl(protection: .whenUnlocked, flags: []) : nil)),
                reason: .rowDamaged),
        ]
        // No field is left out, including fields that are added later.
        #expect(Set(changes.map(\.field)) == Set(Mirror(reflecting: row).children.compactMap(\.label)))
        for change in changes {
            #expect(refusal { _ = try vault.open(change.row, wrapped: sealed.wrapped) }?.reason == change.reason, "\(change.field)")
        }
        #expect(try vault.read(sealed, passcode: Workbench.passcode) == sealed.key)
    }

    @Test("An altered wrapping counts as damage", arguments: [nil, AccessControlFlags.userPresence]) func anAlteredWrappingIsDamage(
        _ flags: AccessControlFlags?
    ) throws {
        let vault = try bench.startProtected()
        let sealed = try SealedRow(bench.row(.whenUnlocked, flags), in: vault)
        var alterations = [sealed.wrapped + [0], Array(sealed.wrapped.dropLast()), [], [0x30, 0x00]]
        for index in sealed.wrapped.indices {
            var altered = sealed.wrapped
            altered[index] ^= 0x01
            alterations.append(altered)
        }
        for altered in alterations {
            #expect(refusal { _ = try vault.open(sealed.row, wrapped: altered) }?.reason == .rowDamaged)
        }
    }

    /// The wrapping of a factor is not accepted for a plain one or one of the first format, nor the other way round.
    @Test("The kind of a wrapping is authenticated") func kindOfAWrappingIsAuthenticated() throws {
        let vault = try bench.startProtected()
        for flags in [nil, AccessControlFlags.userPresence] {
            let sealed = try SealedRow(bench.row(.whenUnlocked, flags), in: vault)
            // SEQUENCE { INTEGER 1, INTEGER kind, OCTET STRING }: the byte of the kind.
            let place = try #require(sealed.wrapped.indices.first { Array(sealed.wrapped[$0...].prefix(5)) == [2, 1, 1, 2, 1] }) + 5
            #expect(sealed.wrapped[place] == (flags == nil ? 0 : 2))
            for kind in [0, 1, 2, 3] as [UInt8] where kind != sealed.wrapped[place] {
                var swapped = sealed.wrapped
                swapped[place] = kind
                #expect(refusal { _ = try vault.open(sealed.row, wrapped: swapped) }?.reason == .rowDamaged)
            }
        }
    }

    @Test("Wrappings cannot be exchanged between rows") func wrappingsAreNotInterchangeable() throws {
        let vault = try bench.startProtected()
        let first = try SealedRow(bench.row(), in: vault)
        let second = try SealedRow(changed(first.row, version: [UInt8](repeating: 3, count: 16)), in: vault)
        #expect(first.key != second.key && first.wrapped != second.wrapped)
        #expect(refusal { _ = try vault.open(first.row, wrapped: second.wrapped) }?.reason == .rowDamaged)
        #expect(bytes(try vault.seal(first.row).key) != first.key)
    }

    @Test("Another user's row does not open") func anotherUsersRowDoesNotOpenHere() throws {
        let alice = try bench.startProtected(), bob = bench.start(1001)
        _ = try bob.lease()
        let sealed = try SealedRow(bench.row(), in: alice)
        #expect(refusal { _ = try bob.open(sealed.row, wrapped: sealed.wrapped) }?.reason == .badParameter)
        #expect(refusal { _ = try bob.open(changed(sealed.row, user: 1001), wrapped: sealed.wrapped) }?.reason == .keyUnknown)
        #expect(refusal { _ = try bob.seal(sealed.row) }?.reason == .badParameter)
    }

    static let impossible: [(flags: AccessControlFlags, reason: Refusal.Reason)] = [
        (.companion, .unsupported), ([.and, .companion, .devicePasscode], .unsupported), (.privateKeyUsage, .badParameter),
        ([.userPresence, .privateKeyUsage], .badParameter), (.applicationPassword, .applicationPasswordMissing),
        ([.userPresence, .applicationPassword], .applicationPasswordMissing), (.biometryCurrentSet, .biometryNotEnrolled),
        ([.and, .biometryCurrentSet, .devicePasscode], .biometryNotEnrolled),
    ]

    @Test("An unsupported access control is refused when it is created", arguments: impossible)
    func unsupportedAccessControlIsRefusedAtItsCreation(_ flags: AccessControlFlags, _ reason: Refusal.Reason) throws {
        let vault = try bench.startProtected()
        #expect(refusal { _ = try vault.seal(try bench.row(.whenUnlocked, flags)) }?.reason == reason)
    }

    @Test("An access control without constraints needs no prompt") func controlWithoutConstraintsDoesNotPrompt() throws {
        let vault = try bench.startProtected()
        let sealed = try SealedRow(bench.row(.whenUnlocked, []), in: vault)
        #expect(try vault.read(sealed) == sealed.key)
    }
}
