import Enclave
import EnclaveWire
import FuzzFinding
import VaubanAccessPolicy
import VaubanDER
import VaubanSecretBytes
import VaubanUserModel

/// A fuzzer of state files: whatever they contain, the enclave neither crashes nor invents a key, and every refusal has a message.
///
/// The bits of the first byte define the file that the rest becomes: bit 0 for authenticated content instead of the bare file, bit 1 for
/// the record of attempts instead of the keybag, bit 2 for no passcode in the other file, bit 3 for changes to a whole keybag
/// (`KeybagEdits`). Only the device itself can write authenticated content: this bit lets the fuzzer reach the code below the
/// authentication.
package struct StateFuzzing {
    private let pristine: [StateName: [UInt8]]
    private let withoutPasscode: [StateName: [UInt8]]
    /// The keybags with and without a passcode.
    private let keybag: Keybag
    private let openKeybag: Keybag
    private let rows: [KnownRow]

    /// Prepares the state to which every input is compared.
    package init() throws {
        pristine = try KnownState.files(hasPasscode: true)
        withoutPasscode = try KnownState.files(hasPasscode: false)
        keybag = try KnownState.keybag(hasPasscode: true)
        openKeybag = try KnownState.keybag(hasPasscode: false)
        let vault = FuzzMachine(pristine).start()
        try vault.unlock(SecretBytes(copying: FuzzMachine.passcode))
        rows = try (ProtectionClass.allCases.map { ($0, nil) } + [(.whenUnlocked, .userPresence), (.always, .userPresence)]).map {
            (protection: ProtectionClass, flags: AccessControlFlags?) in
            let row = KnownState.row(protection, flags)
            let sealed = try vault.seal(row)
            return KnownRow(row: row, wrapped: sealed.wrapped, key: sealed.key.withUnsafeBytes { Array($0) })
        }
    }

    /// Returns the first inputs: each file complete, bare and authenticated.
    package static func seeds() throws -> [[UInt8]] {
        var seeds: [[UInt8]] = []
        for (mode, hasPasscode) in [(UInt8(0), true), (4, false)] {
            let bag = try KnownState.keybag(hasPasscode: hasPasscode)
            var tried = AttemptRecord(keybag: KnownState.identifier, failures: 6)
            tried.guesses = [FailedAttempt(date: 1, purpose: .unlock, who: "/usr/bin/vauban")]
            var configured = bag
            configured.settings = LockSettings(graceSeconds: 5, idleSeconds: 60, locksWithScreen: true)
            configured.destroyed = [KeyName(purpose: 6, generation: Array(repeating: 9, count: 8))]
            configured.recovered = -1
            seeds.append([mode] + (try KnownState.envelope(bag.encoded(), .keybag)))
            seeds.append([mode | 1] + (try bag.encoded()))
            seeds.append([mode | 1] + (try configured.encoded()))
            seeds.append([mode | 2] + (try KnownState.envelope(tried.encoded(), .attempts)))
            seeds.append([mode | 8, 15, 0, 0])
            for edit in UInt8(0)..<17 { seeds.append([mode | 8, edit, 1, 3, edit, 11, 0]) }
            seeds.append([mode | 3] + (try tried.encoded()))
            seeds.append([mode | 3] + (try AttemptRecord(keybag: KnownState.identifier).encoded()))
        }
        return seeds
    }

    /// Runs one input. Returns the number of keys that were returned, so that tests can verify that promises about keys are exercised.
    @discardableResult package func run(_ input: [UInt8]) throws -> Int {
        guard let mode = input.first else { return 0 }
        if mode & 8 != 0 {
            let bag = KeybagEdits.apply(input.dropFirst().prefix(3 * 32), to: mode & 4 == 0 ? keybag : openKeybag)
            return try run([mode & 4 | 1] + (try bag.encoded()))
        }
        let content = Array(input.dropFirst())
        let name: StateName = mode & 2 == 0 ? .keybag : .attempts
        try Self.readsBack(content)
        guard content.count <= EnclaveLimits.keybagBytesMax, mode & 1 == 0 || !content.isEmpty else { return 0 }
        var files = mode & 4 == 0 ? pristine : withoutPasscode
        files[name] = mode & 1 == 0 ? content : try KnownState.envelope(content, name)
        let visit = Visit(FuzzMachine(files))
        try visit.check(rows)
        return visit.opened
    }

    /// Verifies that stored state that can be decoded can be encoded and decoded again. An older version is encoded as the newest.
    private static func readsBack(_ content: [UInt8]) throws {
        try readsBack(content, as: StateEnvelope.self, same: { $0.content == $1.content && $0.device == $1.device })
        try readsBack(content, as: Keybag.self, same: ==)
        try readsBack(content, as: AttemptRecord.self, same: ==)
    }

    private static func readsBack<Value: DERReadable & DERWritable>(_ content: [UInt8], as type: Value.Type, same: (Value, Value) -> Bool)
        throws
    {
        guard let value = try? Value(derBytes: content) else { return }
        let again = try Value(derBytes: value.encoded())
        try require(same(value, again), "\(type) does not decode to the encoded value")
    }
}
