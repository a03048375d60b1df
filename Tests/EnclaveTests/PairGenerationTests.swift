import Enclave
import EnclaveWire
import Testing
import VaubanAccessPolicy

/// A passcode can be set and removed for ever: factor pairs of earlier passcodes do not fill the keybag, and what is sealed to one of
/// them opens as long as its row is there.
@Suite struct PairGenerationTests {
    private let bench = Workbench()

    private func count(_ purpose: KeyPurpose) throws -> Int { try bench.keybag().slots.count { $0.purpose == purpose } }

    /// As keychaind does after each change: rows go under the newest class key, and older ones that no row needs are destroyed.
    private func renew(_ rows: inout [SealedRow], in vault: Vault) throws {
        let bag = try bench.keybag()
        rows = try rows.map { row in
            guard let current = bag.current(.protection(row.row.protection)), current.generation != row.row.generation else { return row }
            let wrapped = try vault.rewrap(row.row, wrapped: row.wrapped, to: current.generation)
            return SealedRow(row.row.with(generation: current.generation), wrapped: wrapped, key: row.key)
        }
        let needed = Set(rows.map(\.row.generation))
        let older = bag.slots.filter { KeyPurpose.classes.contains($0.purpose) && bag.fate(of: $0.name) == .older && !needed.contains($0.generation) }
        try vault.retire(older.map(\.name))
    }

    @Test("a passcode is set and removed three hundred times, and an item of every time opens")
    func threeHundredRounds() throws {
        let vault = bench.start()
        _ = try vault.lease()
        var rows: [SealedRow] = []
        for round in 1...300 {
            try vault.setPasscode(secret(Workbench.passcode))
            if round <= 20 || round.isMultiple(of: 25) { rows.append(try SealedRow(bench.row(.whenUnlocked, .userPresence), in: vault)) }
            try renew(&rows, in: vault)
            if round.isMultiple(of: 50) {
                for row in rows { #expect(try vault.read(row, passcode: Workbench.passcode) == row.key) }
            }
            try vault.removePasscode(secret(Workbench.passcode))
        }
        for factor in KeyPurpose.factors { #expect(try count(factor) == EnclaveLimits.factorGenerationsMax) }
        try vault.setPasscode(secret(Workbench.passcode))
        try renew(&rows, in: vault)
        let restarted = try bench.restarted(unlocked: Workbench.passcode)
        for row in rows { #expect(try restarted.read(row, passcode: Workbench.passcode) == row.key) }
        #expect(rows.count == 32)
    }

    @Test("the pairs of each of the first passcodes are fresh ones, and every current pair lies under the passcode")
    func eachOfTheFirstPasscodesHasFreshPairs() throws {
        let vault = bench.start()
        _ = try vault.lease()
        var seen: Set<[UInt8]> = []
        for round in 1...12 {
            try vault.setPasscode(secret(Workbench.passcode))
            var none: [SealedRow] = []
            try renew(&none, in: vault)
            let pair = try #require(bench.keybag().current(.presenceFactor))
            #expect(pair.wrapping == .passcodeAndDevice)
            // One pair is there from before the first.
            #expect(seen.insert(pair.generation).inserted == (round < EnclaveLimits.factorGenerationsMax))
            try vault.removePasscode(secret(Workbench.passcode))
        }
    }

    /// What an earlier Vauban left: a keybag of eighty rounds.
    @Test("a keybag that was full of pairs takes a passcode again")
    func aFullKeybagTakesAPasscodeAgain() throws {
        let vault = bench.start()
        _ = try vault.lease()
        var bag = try bench.keybag()
        let pair = try #require(bag.current(.presenceFactor))
        while bag.slots.count < 248 { bag.slots.append(pair) }
        try bench.put(bag, as: .keybag)
        try bench.start().setPasscode(secret(Workbench.passcode))
        #expect(try bench.keybag().passcode != nil)
    }
}
