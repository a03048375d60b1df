internal import GRDB
internal import Glibc
internal import VaubanLinuxHost

/// Why the database did not do what was asked; what it held before stands.
package enum StorageError: Error, Hashable, Sendable {
    /// No room on the disk.
    case full
    /// The disk or the file refuses. The text names the operation's result, never a value.
    case failed(String)
    /// The database cannot be read and was put aside; the text says where it is and what the user can do.
    case damaged(String)
    /// A later version of Vauban has written it.
    case newer(String)
    /// There is no verified copy, or no longer the one that was meant.
    case noCopy
    /// The database can be read, so nothing is put in its place.
    case notDamaged
    /// As many databases as can be are in use at this moment, or no descriptor is left to open another.
    case busy

    /// The fault behind an error of SQLite or of the system. SQLite says "no room" only of a write: a log, or the memory that is
    /// shared about it, for which there is no room it calls a failure. So `folder`, where the file lies, is measured then.
    init(_ error: any Error, in folder: PrivateFolder) {
        self.init(error)
        guard case .failed = self, let error = error as? DatabaseError, [.SQLITE_IOERR, .SQLITE_CANTOPEN].contains(error.resultCode) else {
            return
        }
        if let free = try? DiskSpace.bytesFree(in: folder), free < Self.logBytesMin { self = .full }
    }

    /// What SQLite needs to open a database with a log: the index of the log in one piece, and the first pages of the log.
    private static let logBytesMin: UInt64 = 64 << 10

    init(_ error: any Error) {
        switch error {
        case let fault as StorageError: self = fault
        case let error as DatabaseError:
            switch error.resultCode {
            case .SQLITE_FULL: self = .full
            default: self = .failed("the keychain database refuses: \(error.resultCode)")
            }
        case PrivateFolder.Fault.system(let fault): self = Self.ofSystem(fault)
        case let fault as PrivateFolder.Fault: self = .failed(fault.description)
        case let fault as SystemError: self = Self.ofSystem(fault)
        default: self = .failed("the keychain database refuses")
        }
    }

    private static func ofSystem(_ fault: SystemError) -> StorageError {
        if fault.isFullDisk { return .full }
        return [EMFILE, ENFILE].contains(fault.code) ? .busy : .failed(fault.description)
    }
}

extension DatabaseError {
    /// The file's own bytes are wrong, as opposed to a disk that fails.
    var isDamage: Bool { resultCode == .SQLITE_CORRUPT || resultCode == .SQLITE_NOTADB }
}
