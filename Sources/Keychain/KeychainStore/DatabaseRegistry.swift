internal import Synchronization
package import VaubanLinuxHost

/// The open databases, one a person, each in a folder of its own. Opening and checking one holds up no other person.
package final class DatabaseRegistry: Sendable {
    private let state: PrivateFolder
    private let pagesMax: Int?
    private let places = Mutex<[UInt32: Place]>([:])

    /// `pagesMax` stands for a full disk where a test needs one.
    package init(state: PrivateFolder, pagesMax: Int? = nil) {
        self.state = state
        self.pagesMax = pagesMax
    }

    /// The person's database, made if there never was one. A fault is not remembered: what a person has put right
    /// works at the next request.
    package func database(of person: UInt32) throws(StorageFault) -> KeychainDatabase {
        try withPlace(of: person) { opened in
            if let opened, !opened.isSuspect { return opened }
            // Nothing may be written to a file that is looked at and perhaps put aside.
            let isSuspect = opened != nil
            try opened?.close()
            let folder = try state.subfolder("\(person)", creating: true)
            let database = try KeychainDatabase(folder: folder, isSuspect: isSuspect, pagesMax: pagesMax)
            opened = database
            return database
        }
    }

    /// Does something about a person's database that is put aside, while nobody can open it. All of it is looked at first.
    func whileDamaged<Value>(_ person: UInt32, _ body: (DatabaseFile) throws -> Value) throws(StorageFault) -> Value {
        try withPlace(of: person) { opened in
            // Where it serves, a mere question takes it away from nobody.
            if let opened, !opened.isSuspect { throw StorageFault.notDamaged }
            try opened?.close()
            opened = nil
            let file = DatabaseFile(folder: try state.subfolder("\(person)", creating: true))
            do {
                try file.prepare(isSuspect: true, DatabaseFile.configuration(pagesMax: pagesMax))
            } catch StorageFault.damaged {
                return try body(file)
            }
            throw StorageFault.notDamaged
        }
    }

    /// Does something under the lock of the person's place.
    private func withPlace<Value>(
        of person: UInt32, _ body: (inout KeychainDatabase?) throws -> Value
    ) throws(StorageFault) -> Value {
        let result: Result<Value, StorageFault> = place(of: person).opened.withLock { opened in
            do {
                return .success(try body(&opened))
            } catch {
                return .failure(StorageFault(error))
            }
        }
        return try result.get()
    }

    private func place(of person: UInt32) -> Place {
        places.withLock { places in
            if let place = places[person] { return place }
            let place = Place()
            places[person] = place
            return place
        }
    }

    /// Where one person's database is held, and the lock under which it is opened.
    private final class Place: Sendable {
        let opened = Mutex<KeychainDatabase?>(nil)
    }
}
