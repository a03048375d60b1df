import Foundation
import VaubanKeychainClient
import VaubanKeychainWire
import VaubanLogHead
import VaubanSignedNote
import VaubanSyncModel

/// The output of `vauban sync status --json`. The keys must not change, since scripts use them; unknown values are left out.
struct SyncStatusDocument: Encodable {
    enum State: String, Encodable {
        case member, companion
        /// Joins by a token, once the device that made it has synchronized.
        case waitsForSponsor
        case waitsToJoin
    }

    struct Device: Encodable {
        let name: String
        let device: String
        let thisDevice: Bool
        let joinedByRecoveryKey: Bool
        /// What this device has seen of the access log of the other.
        let log: Log?
    }

    struct Log: Encodable {
        let record: Int64
        let date: Date
        /// The last record of this device's log that the other device has seen.
        let ownRecord: Int64?
        /// Whether the log ended earlier than it was seen before, or is another one.
        let setback: Bool
    }

    struct Companion: Encodable {
        let name: String
        let device: String
        let items: Int
        let namesWithoutItem: Int
    }

    struct Token: Encodable {
        let name: String
        let expires: Date
        let items: Int64
    }

    let folder: String
    let state: State
    /// When this device last synchronized completely.
    let lastSynchronized: Date?
    /// The member by whose token this device joins.
    let sponsor: String?
    let devices: [Device]
    let companions: [Companion]
    let tokens: [Token]
    let recoveryKey: Bool
    /// What cannot be relied on, in sentences.
    let warnings: [String]
    /// The devices that must synchronize before the files of removed devices go.
    let removedAwait: [String]
    /// The devices that must synchronize before older files of this device go.
    let keptFor: [String]
    let changesToSend: Int

    init(_ circle: SyncCircle) throws {
        let view = circle.view
        folder = circle.folder.place
        lastSynchronized = circle.home.lastSync?.date
        sponsor = view.sponsor?.name
        recoveryKey = view.hasRecoveryKey
        tokens = view.tokens.map { Token(name: $0.name, expires: Date(microseconds: $0.expires), items: $0.itemCount) }
        guard view.circle != nil, view.sponsor == nil else {
            state = view.sponsor == nil ? .waitsToJoin : .waitsForSponsor
            (devices, companions, warnings, removedAwait, keptFor, changesToSend) = ([], [], [], [], [], 0)
            return
        }
        var run = try SyncRun(circle)
        warnings = run.statementWarnings()
        guard !view.isCompanion else {
            state = .companion
            devices = view.members.map { Self.device($0, in: view, nil) }
            (companions, removedAwait, keptFor, changesToSend) = ([], [], [], 0)
            return
        }
        state = .member
        let memory = try circle.rememberedHeads(run.stateCipher)
        devices = view.members.map { Self.device($0, in: view, memory.devices[$0.device]) }
        let names: Set<[UInt8]> = view.companions.isEmpty ? [] : Set(try circle.client.keychain.syncRows().rows.compactMap(\.name))
        companions = view.companions.map { companion in
            let items = companion.names.all.count(where: names.contains)
            return Companion(
                name: companion.device.name, device: StoredBackupFolder.hex(companion.device.device), items: items,
                namesWithoutItem: companion.names.all.count - items)
        }
        removedAwait = run.keepsFilesOfRemoved ? run.membersBehind().map(\.name) : []
        keptFor = run.membersAwaited.map(\.name)
        // Items that compaction will rewrite do not count as changes.
        changesToSend = run.state.compaction?.end == 0 ? 0 : run.pending
    }

    private static func device(_ member: CircleMember, in view: CircleView, _ known: LogHeadMemory.Device?) -> Device {
        let log = known.map {
            Log(
                record: $0.note.head?.number ?? 0, date: Date(microseconds: $0.time), ownRecord: $0.own?.head?.number,
                setback: $0.setback != nil)
        }
        return Device(
            name: member.name, device: StoredBackupFolder.hex(member.device), thisDevice: member.device == view.device,
            joinedByRecoveryKey: view.recovered.contains(member.device), log: log)
    }
}
