import Enclave
import EnclaveBook
import EnclaveWire
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanDER
import VaubanSecretBytes

/// The keys that keychaind may lease in each state: metadata and index keys that are open, and never a class key.
@Suite struct LeaseTests {
    private let bench = Workbench()

    private func purposes(_ vault: Vault) throws -> [KeyLease.Purpose] {
        let lent = try vault.lease()
        #expect(lent.keys.count == lent.lease.keys.count * KeyLease.keyBytes)
        #expect(lent.lease.user == Workbench.user)
        return lent.lease.keys.map(\.purpose)
    }

    private func metadata(_ availabilities: ProtectionClass.Availability..., passcode: Bool = true) -> Set<KeyLease.Purpose> {
        Set(
            ProtectionClass.allCases.filter { availabilities.contains($0.availability) && (passcode || !$0.needsPasscode) }.map {
                .metadata($0)
            }
        )
    }

    @Test("Without a passcode all keys are leased except those of the passcode class")
    func withoutAPasscodeAllKeysButThoseOfThePasscodeClassAreLeased() throws {
        let vault = bench.start()
        let lent = try purposes(vault)
        #expect(Set(lent) == metadata(.unlocked, .firstUnlock, .always, passcode: false).union([.firstUnlockIndex, .deviceIndex]))
        #expect(lent.count == 8)
        #expect(try !vault.lease().lease.passcodeIsSet)
    }

    @Test("Each lock state leases the keys it permits") func eachLockStateLeasesThePermittedKeys() throws {
        let vault = try bench.startProtected()
        #expect(Set(try purposes(vault)) == metadata(.unlocked, .firstUnlock, .always).union([.firstUnlockIndex, .deviceIndex]))
        #expect(try vault.lease().lease.lock == .unlocked)
        try vault.lock()
        #expect(Set(try purposes(vault)) == metadata(.firstUnlock, .always).union([.firstUnlockIndex, .deviceIndex]))
        #expect(try vault.lease().lease.lock == .locked)

        let restarted = bench.start()
        #expect(Set(try purposes(restarted)) == metadata(.always).union([.deviceIndex]))
        #expect(try restarted.lease().lease.lock == .beforeFirstUnlock)
        try restarted.unlock(secret(Workbench.passcode))
        #expect(Set(try purposes(restarted)) == Set(try purposes(bench.restarted(unlocked: Workbench.passcode))))
        #expect(try restarted.lease().lease.passcodeIsSet)
    }

    @Test("The leases of a vault that was loaded again are of later epochs than all that were recalled before")
    func aVaultThatIsLoadedAgainBeginsInLaterEpochs() throws {
        let vaults = Vaults(host: bench.host)
        try vaults.vault(of: Workbench.user).setPasscode(secret(Workbench.passcode))
        for _ in 1...2 {
            let forgotten = try #require(vaults.forget(Workbench.user))
            #expect(vaults.known(Workbench.user) == nil && vaults.forget(Workbench.user) == nil)
            try forgotten.lock()
            let next = vaults.vault(of: Workbench.user)
            try next.unlock(secret(Workbench.passcode))
            // A thread may still use the one before.
            try forgotten.unlock(secret(Workbench.passcode))
            try forgotten.lock()
            let recalled = try #require(forgotten.takeEndedEpoch())
            #expect(try next.lease().lease.epoch > recalled.epoch)
        }
    }

    @Test("A lease lists older generations after the current ones") func olderGenerationsComeAfterTheCurrentOnes() throws {
        let vault = bench.start()
        let before = try vault.lease().lease.keys
        try vault.setPasscode(secret(Workbench.passcode))
        let after = try vault.lease().lease.keys
        let bag = try bench.keybag()
        #expect(Set(before).isSubset(of: Set(after)))
        for protection in ProtectionClass.allCases {
            let first = try #require(after.first { $0.purpose == .metadata(protection) })
            #expect(first.generation == bag.current(.protection(protection))?.generation)
        }
    }

    @Test("The epoch grows with every lock and every change of the keys") func anEpochGrowsWithEveryLockAndEveryNewSetOfKeys() throws {
        let vault = bench.start()
        #expect(try vault.lease().lease.epoch == 0)
        // What ends is reported, and later leases belong to the next epoch.
        try vault.setPasscode(secret(Workbench.passcode))
        #expect(vault.takeEndedEpoch() == RecalledEpoch(epoch: 0, everything: true) && vault.takeEndedEpoch() == nil)
        #expect(try vault.lease().lease.epoch == 1)
        try vault.lock()
        #expect(vault.takeEndedEpoch() == RecalledEpoch(epoch: 1, everything: false))
        #expect(try vault.lease().lease.epoch == 2)
        try vault.unlock(secret(Workbench.passcode))
        #expect(try vault.lease().lease.epoch == 2)
        try vault.lock()
        #expect(vault.takeEndedEpoch()?.epoch == 2)
    }

    /// Extracts the class keys from the keybag independently, as the specification describes, and looks for them in the leases.
    @Test("A lease never contains a class key") func leaseNeverContainsAClassKey() throws {
        let vault = try bench.startProtected()
        let passcodeKey = try vault.authenticate(secret(Workbench.passcode))
        let lent = try vault.lease()
        let bag = try bench.keybag()
        var lentKeys: [[UInt8]] = []
        for index in lent.lease.keys.indices { lentKeys.append(bytes(lent.keys.part(index * 32..<(index + 1) * 32))) }
        #expect(Set(lentKeys).count == lentKeys.count)
        for slot in bag.slots {
            let key = try ByTheBook.slotKey(slot, of: bag, device: bench.device, passcodeKey: passcodeKey)
            let place = lent.lease.keys.firstIndex { $0.generation == slot.generation }
            switch slot.purpose {
            case .protection:
                #expect(!lentKeys.contains(bytes(key)))
                #expect(lentKeys[try #require(place)] == ByTheBook.hkdf(bytes(key), label: "vauban metadata key v1"))
            case .firstUnlockIndex, .deviceIndex: #expect(lentKeys[try #require(place)] == bytes(key))
            case .privateKeys, .passcodeFactor, .presenceFactor, .biometryFactor, .enrollmentFactor:
                #expect(place == nil && !lentKeys.contains(bytes(key)))
            }
        }
    }

    @Test("A lease decodes to what was encoded") func leaseDecodesToWhatWasEncoded() throws {
        let lease = try bench.startProtected().lease().lease
        #expect(try KeyLease(derBytes: lease.encoded()) == lease)
    }
}

extension Workbench {
    /// Returns a restarted enclave that was unlocked again.
    func restarted(unlocked passcode: String) throws -> Vault {
        let vault = start()
        try vault.unlock(secret(passcode))
        return vault
    }
}
