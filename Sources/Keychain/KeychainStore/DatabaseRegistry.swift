internal import Synchronization
package import VaubanLinuxHost

/// The open databases, one a person, each in a folder of its own.
package final class DatabaseRegistry: Sendable {
    private let state: PrivateFolder
    private let pagesMax: Int?
    private let opened = Mutex<[UInt32: KeychainDatabase]>([:])

    /// `pagesMax` stands for a full disk where a test needs one.
    package init(state: PrivateFolder, pagesMax: Int? = nil) {
        self.state = state
        self.pagesMax = pagesMax
    }

    /// The person's database, made if there never was one. A fault is not remembered: what a person has put right
    /// works at the next request.
    package func database(of person: UInt32) throws(StorageFault) -> KeychainDatabase {
        let result: Result<KeychainDatabase, StorageFault> = opened.withLock { opened in
            let before = opened[person]
            if let before, !before.isSuspect { return .success(before) }
            opened[person] = nil
            do {
                let folder = try state.subfolder("\(person)", creating: true)
                let database = try KeychainDatabase(folder: folder, isSuspect: before != nil, pagesMax: pagesMax)
                opened[person] = database
                return .success(database)
            } catch let fault as PrivateFolder.Fault {
                return .failure(.failed(fault.description))
            } catch let fault as SystemFault {
                return .failure(.failed(fault.description))
            } catch {
                return .failure(StorageFault(error))
            }
        }
        return try result.get()
    }
}
