package import Enclave
import Foundation
import Glibc
package import VaubanLinuxHost

/// People's state as files: `people/UID/keybag` and `people/UID/attempts`.
package struct FileStateStore: StateStore {
    package static let folderName = "people"
    private let folder: PrivateFolder

    package init(in folder: PrivateFolder) { self.folder = folder }

    package func read(_ name: StateName, of person: UInt32, max: Int) throws(StateFault) -> [UInt8]? {
        guard let place = try place(of: person, creating: false) else { return nil }
        do throws(SystemFault) {
            guard case .bytes(let bytes) = try DurableFile(name.rawValue, in: place).read(max: max) else { return nil }
            return bytes
        } catch {
            throw .failed(error.description)
        }
    }

    package func replace(_ name: StateName, of person: UInt32, with bytes: [UInt8]) throws(StateFault) {
        guard let place = try place(of: person, creating: true) else { throw .failed("the state folder is gone") }
        do throws(SystemFault) {
            try DurableFile(name.rawValue, in: place).replace(with: bytes)
        } catch {
            throw error.code == ENOSPC || error.code == EDQUOT ? .full : .failed(error.description)
        }
    }

    package func quarantine(_ name: StateName, of person: UInt32) throws(StateFault) -> String {
        guard let place = try place(of: person, creating: false) else { throw .failed("the state folder is gone") }
        do throws(SystemFault) { return try DurableFile(name.rawValue, in: place).quarantine() } catch { throw .failed(error.description) }
    }

    package func quarantined(of person: UInt32) throws(StateFault) -> [String] {
        guard let place = try place(of: person, creating: false) else { return [] }
        let names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: place.path) } catch {
            // Not "none": then an empty keybag would take the place of the one that was put aside.
            throw .failed("the folder \(place.path) cannot be listed")
        }
        return names.filter { $0.hasPrefix("\(StateName.keybag.rawValue).quarantined-") }.sorted()
    }

    private func place(of person: UInt32, creating: Bool) throws(StateFault) -> PrivateFolder? {
        do throws(PrivateFolder.Fault) {
            guard creating || folder.contains(Self.folderName) else { return nil }
            let people = try folder.subfolder(Self.folderName, creating: creating)
            guard creating || people.contains("\(person)") else { return nil }
            let place = try people.subfolder("\(person)", creating: creating)
            if creating {
                // The names must survive a power cut as the files in them do.
                fsync(people.descriptor.number)
                fsync(folder.descriptor.number)
            }
            return place
        } catch {
            if case .system(let fault) = error, fault.code == ENOSPC || fault.code == EDQUOT { throw .full }
            throw .failed(error.description)
        }
    }
}

/// The machine's own clocks.
package struct SystemClock: EnclaveClock {
    package init() {}
    package var boot: UInt64 { MachineClock.boot }
    package var referenceMicroseconds: Int64 { MachineClock.referenceMicroseconds }
}
