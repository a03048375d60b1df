internal import GRDB
internal import Glibc
internal import VaubanLinuxHost

/// Why the database did not serve a call. The disk is to blame unless a case says otherwise. The content is unchanged.
package enum StorageError: Error, Hashable, Sendable {
    /// The disk is full.
    case full
    /// The disk or the file failed. The text contains the operation's result and never a value.
    case failed(String)
    /// The database cannot be read and was set aside. The text contains its path and what the user can do.
    case damaged(String)
    /// A later version of Vauban wrote it.
    case newer(String)
    /// The caller is to blame: there is no verified copy, or not the one requested.
    case noCopy
    /// The caller is to blame: the database can be read, so it is not replaced.
    case notDamaged
    /// The machine is to blame: too many databases are in use at this moment, or no descriptor is left to open another.
    case busy

    /// Maps an error of SQLite or of the system. SQLite reports a full disk only for a write: if a log or its shared memory does not fit,
    /// it reports another failure. So this measures the free space in `folder`, which contains the file.
    init(_ error: any Error, in folder: PrivateFolder) {
        self.init(error)
        guard case .failed = self, let error = error as? DatabaseError, [.SQLITE_IOERR, .SQLITE_CANTOPEN].contains(error.resultCode) else {
            return
        }
        if let free = try? DiskSpace.bytesFree(in: folder), free < Self.logBytesMin { self = .full }
    }

    /// What SQLite needs to open a database with a log: the log's index in one piece, and the first pages of the log.
    private static let logBytesMin: UInt64 = 64 << 10

    init(_ error: any Error) {
        switch error {
        case let fault as StorageError: self = fault
        case let error as DatabaseError:
            switch error.resultCode {
            case .SQLITE_FULL: self = .full
            default: self = .failed("the keychain database failed: \(error.resultCode)")
            }
        case PrivateFolder.OpeningError.system(let fault): self = Self.ofSystem(fault)
        case let fault as PrivateFolder.OpeningError: self = .failed(fault.description)
        case let fault as SystemError: self = Self.ofSystem(fault)
        default: self = .failed("the keychain database failed")
        }
    }

    private static func ofSystem(_ fault: SystemError) -> StorageError {
        if fault.isFullDisk { return .full }
        return [EMFILE, ENFILE].contains(fault.code) ? .busy : .failed(fault.description)
    }
}

extension DatabaseError {
    /// Whether the file's content is wrong, as opposed to a failing disk.
    var isDamage: Bool { resultCode == .SQLITE_CORRUPT || resultCode == .SQLITE_NOTADB }
}
