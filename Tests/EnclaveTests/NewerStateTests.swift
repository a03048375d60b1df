import Enclave
import EnclaveWire
import Testing
import VaubanAccessPolicy
import VaubanDER
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

/// State written by a later Vauban is refused with a message that names the version, and left in place.
@Suite struct NewerStateTests {
    private let bench = Workbench()

    /// An intact file whose content, or whose envelope, names a later version.
    private struct Later: DERWritable {
        let version: Int64
        func write(into der: inout DERWriter) throws {
            try der.sequence {
                try $0.integer(version); try $0.octets([1, 2, 3])
            }
        }
    }

    private func expectRefused(_ name: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let files = bench.store.files
        for _ in 1...2 {
            let vault = bench.start()
            for use in EveryUse.refusable {
                let answer = refusal { try use.perform(vault) }
                #expect(
                    answer?.reason == .stateUnreadable && answer?.detail?.contains("version \(name)") != false, "\(use.name)",
                    sourceLocation: sourceLocation)
            }
            let status = vault.status
            #expect(status.lock == .unreadable && status.warnings.count == 1, sourceLocation: sourceLocation)
            #expect(status.warnings.first?.contains("version \(name)") == true, sourceLocation: sourceLocation)
        }
        #expect(bench.store.files == files, sourceLocation: sourceLocation)
    }

    @Test("Content of a later version is refused by name and left in place", arguments: [StateName.keybag, .attempts])
    func aLaterContentIsRefusedByNameAndUntouched(_ name: StateName) throws {
        _ = try bench.startProtected()
        let good = bench.store.files
        let later: Int64 = name == .keybag ? Keybag.version + 1 : 3
        try bench.put(Later(version: later), as: name)
        expectRefused("\(later)")
        bench.store.files = good
        try bench.start().unlock(secret(Workbench.passcode))
    }

    @Test("An envelope of a later version is refused by name and left in place", arguments: [StateName.keybag, .attempts])
    func aLaterEnvelopeIsRefusedByNameAndUntouched(_ name: StateName) throws {
        _ = try bench.startProtected()
        bench.store.files["1000/\(name.rawValue)"] = try Later(version: 2).encoded()
        expectRefused("2")
    }

    /// A version below the first counts as damage, since no Vauban writes it.
    @Test("An invalid version counts as damage", arguments: [Int64(0), -1]) func invalidVersionIsDamage(_ version: Int64) throws {
        _ = try bench.startProtected()
        try bench.put(Later(version: version), as: .keybag)
        #expect(bench.start().status.warnings.first?.contains("keybag.quarantined-1") == true)
    }

    /// The reserved field is refused like damage, in both versions, since its meaning is unknown.
    @Test("The reserved counter field is refused") func theReservedCounterIsRefused() throws {
        _ = try bench.startProtected()
        struct Reserved: DERWritable {
            let bag: Keybag
            func write(into der: inout DERWriter) throws {
                try der.sequence { fields in
                    try fields.integer(2)
                    try fields.octets(bag.identifier)
                    try fields.integer(Int64(bag.user))
                    try fields.octets(bag.device)
                    try fields.list(bag.slots)
                    try fields.list(bag.destroyed)
                    try fields.value(bag.settings)
                    if let passcode = bag.passcode { try fields.tagged(0) { try $0.value(passcode) } }
                    try fields.optionalOctets(1, [1])
                }
            }
        }
        try bench.put(Reserved(bag: bench.keybag()), as: .keybag)
        #expect(bench.start().status.warnings.first?.contains("keybag.quarantined-1") == true)
    }
}
