internal import GRDB
internal import VaubanLinuxHost

/// Why the database did not do what was asked; what it held before stands.
package enum StorageFault: Error, Hashable, Sendable {
    /// No room on the disk.
    case full
    /// The disk or the file refuses. The text names the operation's result, never a value.
    case failed(String)
    /// The database cannot be read and was put aside; the text says where it is and what the person can do.
    case damaged(String)
    /// A later version of Vauban has written it.
    case newer(String)
    /// There is no verified copy, or no longer the one that was meant.
    case noCopy
    /// The database can be read, so nothing is put in its place.
    case notDamaged

    init(_ error: any Error) {
        switch error {
        case let fault as StorageFault: self = fault
        case let error as DatabaseError:
            switch error.resultCode {
            case .SQLITE_FULL: self = .full
            default: self = .failed("the keychain database refuses: \(error.resultCode)")
            }
        case let fault as PrivateFolder.Fault: self = .failed(fault.description)
        case let fault as SystemFault: self = .failed(fault.description)
        default: self = .failed("the keychain database refuses")
        }
    }
}

extension DatabaseError {
    /// The file's own bytes are wrong, as opposed to a disk that fails.
    var isDamage: Bool { resultCode == .SQLITE_CORRUPT || resultCode == .SQLITE_NOTADB }
}
