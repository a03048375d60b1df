package import VaubanAccessPolicy
package import VaubanLogHead
package import VaubanSyncModel
package import VaubanUserModel
package import VaubanUserWire

/// A request of a room to the enclave on one connection. It always concerns the registered caller's user.
package enum EnclaveRequest: Hashable, Sendable {
    /// Sent with two descriptors: the caller's accepted connection and its process. Valid for this connection until the next registration.
    /// `name` is the user's name in the name service, which the enclave cannot query; nil for a user whom the system's files list.
    case registerCaller(name: String?)
    /// From keychaind: makes an item key, wrapped for this row. The key is the reply's secret section; the application password, if the
    /// access control needs one, is the request's.
    case seal(RowBinding)
    /// From keychaind: opens the item key of this row, with its application password if it has one. May prompt the user, unless `mayPrompt`
    /// is false or the caller's `authorization` suffices.
    case open(RowBinding, wrapped: [UInt8], reason: String?, mayPrompt: Bool, authorization: [UInt8]? = nil)
    /// From keychaind: returns the metadata and index keys that are open now, in one secret section.
    case lease
    /// From keychaind: wraps the same item key by another generation of the class key. Never prompts and releases no key.
    case rewrap(RowBinding, wrapped: [UInt8], generation: [UInt8])
    /// From keychaind: destroys older class keys that no longer wrap any row or quarantined row.
    case retire([KeyName])
    /// From keychaind: returns the status of a key.
    case keyStatus(KeyName)
    /// From keychaind: prompts the user to consent to the caller's access to another program's items.
    case consent(Consent, reason: String?)
    /// From keychaind and authd: returns the identity of the registered caller. It is requested before anything is sent to the caller, and
    /// the answer holds for the process at the other end for as long as the connection lasts.
    case identify
    /// From keychaind: sent with the caller's accepted connection, on which the caller uses private keys from now on.
    case handOver
    /// From keychaind: opens a backup on this connection, or makes a new one if there is no keybag, for a recipient if there is one. The
    /// passphrase, or a restore key, is the secret section; without one, the keys of this device are used. The key of the backup's frames
    /// is the reply's secret section.
    case openBackup(keybag: [UInt8]?, BackupUse, recipient: [UInt8]? = nil, secretIsRestoreKey: Bool = false)
    /// From keychaind: wraps the item key of this row for the open backup. The key of its attributes there is the reply's secret section.
    case backUp(RowBinding, wrapped: [UInt8])
    /// From keychaind: releases the attributes key of an item in the open backup and, unless it stays on another device, its item key. The
    /// row is bound as it was when it was backed up.
    case restoreKeys(RowBinding, wrapped: [UInt8])
    /// From keychaind: a request about the user's circle of devices. Prompts the user to admit or remove a device, to enter a circle, to
    /// change the list of a companion, or to make or redeem a token. The reply's secret section contains the keys of files if the circle is
    /// opened on this connection or the keys for a companion are requested, and the seed of its key if a token is made.
    case circle(CircleRequest)
    /// From keychaind: wraps the item key of this row for the open circle. The key of its attributes there is the reply's secret section.
    case sealForCircle(RowBinding, wrapped: [UInt8])
    /// From keychaind: releases the attributes key and the item key of an item that another device of the open circle wrote.
    case circleItemKeys(RowBinding, wrapped: [UInt8], epoch: Int64)
    /// From keychaind: releases the key that blinds the names of items in the open circle. A companion has none: the reply is `done`.
    case circleNames
    /// From keychaind: wraps the item key of this row for a companion, if the item's blinded name is on its list. The key of its attributes
    /// there is the reply's secret section.
    case sealForCompanion(RowBinding, wrapped: [UInt8], device: [UInt8], name: [UInt8])
    /// From keychaind: returns the first key of a series for the user's access log, sealed so that only this user's enclave opens it again;
    /// the key is the reply's secret section.
    case makeSeriesKey
    /// From keychaind: extends the end of the access log that the enclave keeps by these records, and returns it.
    case anchorLog([AccessLogLink])
    /// From keychaind: releases the first key of a series of the access log, while the user's device is unlocked.
    case openSeriesKey([UInt8])
    /// From keychaind: signs the end of the access log that the enclave keeps, or cosigns another device's, while the user's device is
    /// unlocked.
    case signLogHead(LogHeadRequest)
    /// From keychaind: the name that root or the registered caller's user gave a team whose programs they trust, for prompts; nil if they
    /// do not trust it.
    case nameTeam(TeamIdentifier, name: String?)
    /// From authd: a user request, passed on unchanged.
    case user(UserRequest)

    /// The role whose connections may send the request; nil for both.
    package var role: EnclaveRole? {
        switch self {
        case .registerCaller, .identify: nil
        case .seal, .open, .lease, .rewrap, .retire, .keyStatus, .consent, .handOver, .openBackup, .backUp, .restoreKeys, .circle,
            .sealForCircle, .circleItemKeys, .circleNames, .sealForCompanion, .makeSeriesKey, .anchorLog, .openSeriesKey, .signLogHead,
            .nameTeam:
            .keychain
        case .user: .authentication
        }
    }

    /// Whether the request carries descriptors of the caller.
    package var takesDescriptors: Bool {
        switch self {
        case .registerCaller, .handOver: true
        case .seal, .open, .lease, .rewrap, .retire, .keyStatus, .consent, .identify, .user, .openBackup, .backUp, .restoreKeys, .circle,
            .sealForCircle, .circleItemKeys, .circleNames, .sealForCompanion, .makeSeriesKey, .anchorLog, .openSeriesKey, .signLogHead,
            .nameTeam:
            false
        }
    }

    /// Whether the reply may have to wait for the user.
    package var mayWaitForUser: Bool {
        switch self {
        case .open, .consent: true
        case .user(let request): request.mayWaitForUser
        case .circle(let request): request.mayWaitForUser
        case .registerCaller, .seal, .lease, .rewrap, .retire, .keyStatus, .identify, .handOver, .openBackup, .backUp, .restoreKeys,
            .sealForCircle, .circleItemKeys, .circleNames, .sealForCompanion, .makeSeriesKey, .anchorLog, .openSeriesKey, .signLogHead,
            .nameTeam:
            false
        }
    }

    /// Whether the secret section may carry an application password, a passphrase, or the seed of a token.
    package var takesSecret: Bool {
        switch self {
        case .seal(let row), .open(let row, _, _, _, _): row.accessControl?.needsApplicationPassword ?? false
        case .openBackup: true
        case .circle(let request): request.takesSecret
        case .registerCaller, .lease, .rewrap, .retire, .keyStatus, .consent, .identify, .handOver, .user, .backUp, .restoreKeys,
            .sealForCircle, .circleItemKeys, .circleNames, .sealForCompanion, .makeSeriesKey, .anchorLog, .openSeriesKey, .signLogHead,
            .nameTeam:
            false
        }
    }
}

/// The use for which a backup is opened. Keys that are opened for one use do nothing for the other.
package enum BackupUse: Int64, Hashable, Sendable {
    /// To add items to it.
    case backUp = 1
    /// To restore items from it.
    case restore = 2
}
