import VaubanRefusal
import VaubanSyncModel

extension SyncRun: CompactingRun {
    var carrier: any SyncCarrier { circle.folder }
    var view: CircleView { circle.view }

    func sign(_ digest: [UInt8]) throws -> [UInt8] { try circle.sign(digest) }

    /// The members for which files of this device are kept.
    var membersAwaited: [CircleMember] { state.awaited(among: circle.view.members) }
}
