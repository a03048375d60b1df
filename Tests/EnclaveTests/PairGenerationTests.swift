import Crypto
import Enclave
import EnclaveWire
import Foundation
import Testing
import VaubanAccessPolicy
import VaubanDER
import VaubanKeyWire
import VaubanRefusal

/// Factor pairs of earlier passcodes are removed: after a passcode, rows are resealed to the current pairs, and then no row needs the older
/// ones. Pairs of private keys stay, since those keys may be stored anywhere.
@Suite struct PairGenerationTests {
    private let bench = Workbench()

    private func count(_ purpose: KeyPurpose) throws -> Int { try bench.keybag().slots.count { $0.purpose == purpose } }

    /// Acts as keychaind does after each change: moves rows to the newest class key, and destroys older ones that no row needs.
    private func renew(_ rows: inout [SealedRow], in vault: Vault) throws {
        let bag = try bench.keybag()
        rows = try rows.map { row in
            guard let current = bag.current(.protection(row.row.protection)), current.generation != row.row.generation else { return row }
            do {
                let wrapped = try vault.rewrap(row.row, wrapped: row.wrapped, to: current.generation)
                return SealedRow(row.row.with(generation: current.generation), wrapped: wrapped, key: row.key)
            } catch let refusal as Refusal
                where [.interactionNotAllowed, .badParameter, .locked, .beforeFirstUnlock].contains(refusal.reason)
            {
                return row
            }
        }
        let needed = Set(rows.map(\.row.generation))
        let older = bag.slots.filter {
            KeyPurpose.classes.contains($0.purpose) && bag.keyStatus(of: $0.name) == .older && !needed.contains($0.generation)
        }
        try vault.retire(older.map(\.name))
    }

    @Test("After three hundred passcodes were set and removed, an item from each opens and no older pair is left")
    func threeHundredRounds() throws {
        let vault = bench.start()
        _ = try vault.lease()
        var rows: [SealedRow] = []
        for round in 1...300 {
            try vault.setPasscode(secret(Workbench.passcode))
            if round <= 20 || round.isMultiple(of: 25) { rows.append(try SealedRow(bench.row(.whenUnlocked, .userPresence), in: vault)) }
            try renew(&rows, in: vault)
            for factor in KeyPurpose.factors { #expect(try count(factor) == 1) }
            if round.isMultiple(of: 50) {
                for row in rows { #expect(try vault.read(row, passcode: Workbench.passcode) == row.key) }
            }
            try vault.removePasscode(secret(Workbench.passcode))
        }
        try vault.setPasscode(secret(Workbench.passcode))
        try renew(&rows, in: vault)
        let restarted = try bench.restarted(unlocked: Workbench.passcode)
        for row in rows { #expect(try restarted.read(row, passcode: Workbench.passcode) == row.key) }
        #expect(rows.count == 32)
    }

    @Test("Each passcode has new pairs, and the passcode wraps every current pair")
    func everyPasscodeHasFreshPairs() throws {
        let vault = bench.start()
        _ = try vault.lease()
        var seen: Set<[UInt8]> = []
        for _ in 1...40 {
            try vault.setPasscode(secret(Workbench.passcode))
            var none: [SealedRow] = []
            try renew(&none, in: vault)
            let pair = try #require(bench.keybag().current(.presenceFactor))
            #expect(pair.wrapping == .passcodeAndDevice)
            #expect(seen.insert(pair.generation).inserted)
            try vault.removePasscode(secret(Workbench.passcode))
        }
    }

    @Test("An unchanged row keeps its pair and its class key, and passcodes can still be set")
    func unchangedRowKeepsItsPair() throws {
        let vault = bench.start()
        _ = try vault.lease()
        let current = try #require(bench.keybag().current(.protection(.whenUnlocked)))
        // A format that is bound to its class key's generation.
        let first = Sample.row(.whenUnlocked, .userPresence, generation: current.generation, format: .generationBound)
        var rows = [try SealedRow(first, in: vault)]
        for _ in 1...40 {
            try vault.setPasscode(secret(Workbench.passcode))
            try renew(&rows, in: vault)
            try vault.removePasscode(secret(Workbench.passcode))
        }
        #expect(try count(.presenceFactor) == EnclaveLimits.factorGenerationsMax)
        try vault.setPasscode(secret(Workbench.passcode))
        #expect(try vault.read(rows[0], passcode: Workbench.passcode) == rows[0].key)
    }

    @Test("Only a recent passcode rewraps items with an access control; until then they stay unchanged")
    func onlyARecentPasscodeRewrapsProtectedItems() throws {
        let vault = bench.start()
        _ = try vault.lease()
        let old = try SealedRow(bench.row(.afterFirstUnlock, .userPresence), in: vault)
        var rows = [
            old, try SealedRow(bench.row(.afterFirstUnlock), in: vault), try SealedRow(bench.row(.always, .devicePasscode), in: vault),
        ]
        try vault.setPasscode(secret(Workbench.passcode))
        for moment in ["locked", "time", "restart"] {
            switch moment {
            case "locked": try vault.lock()
            case "time":
                try vault.unlock(secret(Workbench.passcode))
                bench.clock.advance(seconds: EnclaveLimits.resealingPeriod / 1_000_000_000 + 1)
            default: break
            }
            let here = moment == "restart" ? bench.start() : vault
            try renew(&rows, in: here)
            #expect(rows[0].wrapped == old.wrapped)
            #expect(try count(.presenceFactor) == 2, "\(moment)")
        }
        let last = try bench.restarted(unlocked: Workbench.passcode)
        // The earlier and the moved form both open as long as the old keys exist, so a kill between the two steps loses nothing.
        let bag = try bench.keybag()
        let current = try #require(bag.current(.protection(.afterFirstUnlock)))
        let wrapped = try last.rewrap(old.row, wrapped: old.wrapped, to: current.generation)
        #expect(try last.read(old, passcode: Workbench.passcode) == old.key)
        #expect(try last.read(old.row.with(generation: current.generation), wrapped, passcode: Workbench.passcode) == old.key)
        try renew(&rows, in: last)
        for factor in KeyPurpose.factors { #expect(try count(factor) == 1) }
        for row in rows { #expect(try last.read(row, passcode: Workbench.passcode) == row.key) }
        #expect(refusal { _ = try last.read(rows[0]) }?.reason == .interactionNotAllowed)
        #expect(refusal { _ = try last.read(old, passcode: Workbench.passcode) }?.reason == .keyDestroyed)
    }

    @Test(
        "A rewrapped item opens with the factors that opened it before, and with no others", .serialized,
        arguments: [
            AccessControlFlags.userPresence, .devicePasscode, .biometryAny, .biometryCurrentSet, [.biometryAny, .or, .devicePasscode],
            [.biometryAny, .and, .devicePasscode], [.biometryCurrentSet, .or, .devicePasscode], [.userPresence, .applicationPassword],
        ])
    func rewrappedRowKeepsItsRequirement(_ flags: AccessControlFlags) throws {
        let (vault, reader) = try bench.startEnrolled()
        let password = flags.contains(.applicationPassword) ? "right" : nil
        var rows = [try SealedRow(bench.row(.afterFirstUnlock, flags), in: vault, password: password)]
        // The enrollment ends with the passcode; items that require its fingers are lost.
        try vault.removePasscode(secret(Workbench.passcode))
        try vault.setPasscode(secret(Workbench.passcode))
        try vault.enroll(fingers: Sample.fingers, unlocks: false, passcodeKey: vault.authenticate(secret(Workbench.passcode)))
        func outcomes(_ row: SealedRow) -> [String] {
            let byPasscode = { try vault.finishWith(password, try vault.opening(row), evidence: try vault.gather(Workbench.passcode)) }
            let byFinger = { () throws -> [UInt8] in
                let shown = OperationEvidence()
                shown.evidence.finger = try vault.acceptFingerMatch(fingers: Sample.fingers)
                return try vault.finishWith(password, try vault.opening(row), evidence: shown)
            }
            let byBoth = { () throws -> [UInt8] in
                let shown = try vault.gather(Workbench.passcode)
                shown.evidence.finger = try vault.acceptFingerMatch(fingers: Sample.fingers)
                return try vault.finishWith(password, try vault.opening(row), evidence: shown)
            }
            let wrong = { try vault.finishWith(password == nil ? nil : "wrong", try vault.opening(row), evidence: OperationEvidence()) }
            return [byPasscode, byFinger, byBoth, wrong].map { attempt in
                do { return try attempt() == row.key ? "opens" : "gives another key" } catch {
                    return "\((error as? Refusal)?.reason.rawValue ?? -1)"
                }
            }
        }
        let before = outcomes(rows[0])
        let old = rows[0]
        _ = try vault.authenticate(secret(Workbench.passcode))
        try renew(&rows, in: vault)
        #expect(rows[0].row.generation != old.row.generation)
        for factor in KeyPurpose.factors { #expect(try count(factor) == 1) }
        #expect(outcomes(rows[0]) == before)
        #expect(before.contains("opens") != (flags == .biometryCurrentSet))
        withExtendedLifetime(reader) {}
    }

    // MARK: Private keys

    /// Returns whether a key that requires presence signs after the passcode.
    private func signs(_ key: EnclaveKey, in vault: Vault) throws -> Bool {
        guard case .layered(let opening) = try vault.open(key, for: .sign) else { return false }
        let opened = try vault.finish(opening, try vault.gather(Workbench.passcode), password: nil)
        guard case .signature(let raw) = try SoftwareKey(key.kind, opened, for: .sign).use(Array(SHA256.hash(data: Data("a message".utf8))))
        else {
            return false
        }
        return raw.count == 64
    }

    @Test("Private keys from twenty passcodes sign, and only their pairs are kept")
    func privateKeysKeepTheirPairs() throws {
        let vault = bench.start()
        _ = try vault.lease()
        let control = try AccessControl(protection: .afterFirstUnlock, flags: [.userPresence, .privateKeyUsage])
        var keys: [EnclaveKey] = []
        var rows: [SealedRow] = []
        var seen: Set<[UInt8]> = []
        for _ in 1...20 {
            try vault.setPasscode(secret(Workbench.passcode))
            keys.append(try vault.makeKey(.p256, control))
            rows.append(try SealedRow(bench.row(.afterFirstUnlock, [.biometryAny, .or, .devicePasscode]), in: vault))
            try renew(&rows, in: vault)
            #expect(try count(.passcodeFactor) == 1 && count(.biometryFactor) == 1)
            #expect(try seen.insert(#require(bench.keybag().current(.presenceFactor)).generation).inserted)
            try vault.removePasscode(secret(Workbench.passcode))
        }
        try vault.setPasscode(secret(Workbench.passcode))
        try renew(&rows, in: vault)
        // Those of private keys, and the current one.
        #expect(try count(.presenceFactor) == EnclaveLimits.keyFactorGenerationsMax + 1)
        let restarted = try bench.restarted(unlocked: Workbench.passcode)
        for key in keys { #expect(try signs(key, in: restarted)) }
        for row in rows { #expect(try restarted.read(row, passcode: Workbench.passcode) == row.key) }
    }

    // MARK: Earlier versions

    /// A keybag of an earlier version after eighty renewals.
    @Test("A keybag that is full of pairs accepts a new passcode")
    func fullKeybagAcceptsANewPasscode() throws {
        let vault = bench.start()
        _ = try vault.lease()
        var bag = try bench.keybag()
        let pair = try #require(bag.current(.presenceFactor))
        while bag.slots.count < 240 { bag.slots.append(pair) }
        try bench.put(bag, as: .keybag)
        try bench.start().setPasscode(secret(Workbench.passcode))
        #expect(try bench.keybag().passcode != nil)
    }

    /// In an earlier version, rows moved to newer class keys but stayed sealed to older pairs.
    @Test("A keybag of an earlier version keeps its older pairs, and all pairs if it has private keys")
    func pairsOfEarlierVersionsStay() throws {
        let vault = try bench.startProtected()
        var bag = try bench.keybag()
        #expect(bag.slots.contains { KeyPurpose.factors.contains($0.purpose) && bag.current($0.purpose) != $0 })
        #expect(!bag.slots.contains { $0.holdsPrivateKeys })
        #expect(try version(of: bag) == 4)
        for index in bag.slots.indices where KeyPurpose.factors.contains(bag.slots[index].purpose) {
            bag.slots[index].holdsPrivateKeys = bag.current(bag.slots[index].purpose) != bag.slots[index]
        }
        #expect(try version(of: bag) == 2)
        #expect(try Keybag(derBytes: bag.encoded()) == bag)
        // A private key of a class creates a slot under its key.
        _ = try vault.makeKey(.p256, try AccessControl(protection: .afterFirstUnlock, flags: []))
        var withKeys = try bench.keybag()
        #expect(try version(of: withKeys) == 4)
        for index in withKeys.slots.indices where KeyPurpose.factors.contains(withKeys.slots[index].purpose) {
            withKeys.slots[index].holdsPrivateKeys = true
        }
        #expect(try version(of: withKeys) == 3)
        #expect(try Keybag(derBytes: withKeys.encoded()) == withKeys)
    }

    /// Returns the first INTEGER of the keybag, after its header of four bytes.
    private func version(of bag: Keybag) throws -> UInt8 { try bag.encoded()[6] }
}
