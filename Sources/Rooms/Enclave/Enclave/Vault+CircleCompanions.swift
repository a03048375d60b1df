// The companions of a circle (Specs/sync.md, "A companion"): sealing items for them, and their lists. The lists are stored here, so that
// they change only with the user's approval.

package import EnclaveWire
package import VaubanRefusal
import VaubanSecretBytes
import VaubanSyncModel

extension Vault {
    /// Returns the item key of a row, wrapped for a companion. The item's name comes from keychaind, since only keychaind can read it. The
    /// current list applies and not that at the opening of the circle: once a statement removes an item from the list, no connection seals
    /// it.
    package func sealForCompanion(
        _ row: RowBinding, wrapped: [UInt8], device: [UInt8], name: [UInt8]
    ) throws(Refusal) -> SealedItemKey {
        try Self.checkMayLeave(row)
        let member = try circleMember()
        guard let companion = member.body.companions.first(where: { $0.device.device == device }) else { throw Self.noSuchDevice }
        guard companion.names.contains(name) else {
            throw Refusal(.notAllowedHere, "The item is not on the list of \(companion.device.name)")
        }
        let epochs = member.secrets.epochs
        return try backUp(row, wrapped: wrapped, into: try companionKeys(device, of: member, epoch: epochs, .backUp))
    }

    /// Returns the keys of a companion's files.
    func companionFiles(_ device: [UInt8], of member: CircleMembership) throws(Refusal) -> CircleOutcome {
        guard member.body.companions.contains(where: { $0.device.device == device }) else { throw Self.noSuchDevice }
        var epochs: [OpenBackup] = []
        for epoch in 1...max(member.secrets.epochs, 1) {
            epochs.append(try companionKeys(device, of: member, epoch: epoch, .restore))
        }
        return CircleOutcome(CircleReply(member.body.view), files: OpenCircle.CompanionFiles(epochs))
    }

    private func companionKeys(
        _ device: [UInt8], of member: CircleMembership, epoch: Int, _ use: BackupUse
    ) throws(Refusal) -> OpenBackup {
        guard let circle = member.body.circle, (1...max(member.secrets.epochs, 1)).contains(epoch), member.secrets.epochs > 0 else {
            throw CircleMembership.notInCircle
        }
        let key = member.secrets.companionKey(of: epoch, circle: circle, device: device)
        return OpenCircle.open(key, in: circle + device, use, at: member.vaultEpoch)
    }

    /// Changes the list of a companion by a new statement. The companion can still read items that it received under the present circle
    /// key.
    func change(
        _ device: [UInt8], in member: CircleMembership, _ body: (BlindedNames) -> BlindedNames?
    ) throws(Refusal) -> CircleOutcome {
        guard let index = member.body.companions.firstIndex(where: { $0.device.device == device }) else { throw Self.noSuchDevice }
        var companions = member.body.companions
        guard let list = body(companions[index].names) else {
            throw Refusal(.unsupported, "A companion receives at most 100 items; take some off its list first: vauban sync disallow")
        }
        companions[index].names = list
        let (statement, next) = try member.makeStatement(members: member.body.members, companions: companions, rolls: false)
        return try store(next, document: statement)
    }
}
