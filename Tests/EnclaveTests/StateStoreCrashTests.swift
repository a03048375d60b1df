import Enclave
import EnclaveSoftware
import Glibc
import SimulatedHost
import TestSupport
import Testing
import VaubanLinuxHost

/// A user's state files and the device secret, over a disk that is cut off at every step.
@Suite struct StateStoreCrashTests {
    private static let attempts: [UInt8] = Array("a record of tries".utf8)
    private static let keybag = [UInt8](repeating: 0xB6, count: 5000)
    private static let user: UInt32 = 1000

    private func faults(_ steps: Int) -> [SimulatedDisk.Fault?] {
        [nil] + (0..<steps + 2).flatMap { [.full(from: $0), .short(at: $0), .broken(at: $0), .readOnly(from: $0)] }
    }

    private func store(_ image: DiskImage) -> FileStateStore { FileStateStore(in: SimulatedDisk(image).root) }

    private func content(_ image: DiskImage) throws -> (attempts: [UInt8]?, keybag: [UInt8]?) {
        let store = store(image)
        return try (store.read(.attempts, of: Self.user, max: 9000), store.read(.keybag, of: Self.user, max: 9000))
    }

    private func create(_ store: FileStateStore) throws(StateError) {
        try store.replace(.attempts, of: Self.user, with: Self.attempts)
        try store.replace(.keybag, of: Self.user, with: Self.keybag)
    }

    /// From nothing, including the folders: only whole files, the keybag never without the record, and both once the call returned.
    @Test("A power cut at any step of the first use leaves only complete files") func firstUseSurvivesAPowerCutAtAnyStep() throws {
        let disk = SimulatedDisk()
        disk.prepare()
        try create(FileStateStore(in: disk.root))
        let steps = disk.steps
        var images = 0, instants = 0, again = 0
        for fault in faults(steps) {
            let disk = SimulatedDisk()
            disk.prepare(fault, tracing: true)
            let isDone = (try? create(FileStateStore(in: disk.root))) != nil
            let trace = disk.trace
            for (index, image) in trace.enumerated() {
                instants += 1
                let survivors = try #require(image.survivors(max: 20_000))
                images += survivors.count + 1
                for left in [image] + survivors {
                    let (attempts, keybag) = try content(left)
                    #expect(attempts == nil || attempts == Self.attempts)
                    #expect(keybag == nil || keybag == Self.keybag && attempts != nil)
                    if isDone && index == trace.count - 1 { #expect(attempts != nil && keybag != nil) }
                }
                guard fault == nil else { continue }
                for left in [image] + survivors {
                    again += 1
                    try create(store(left))
                }
            }
        }
        print("first use: \(steps) steps, \(instants) instants, \(images) disks looked at, \(again) of them used again")
        #expect(steps == 16 && images > 2500)
    }

    /// The result of a completed write of one file stays, regardless of the next write.
    @Test("A keybag survives a power cut at any step of its replacement, first or later in a process", arguments: [true, false])
    func keybagSurvivesAPowerCutAtAnyStep(_ isFirst: Bool) throws {
        let disk = SimulatedDisk()
        try create(FileStateStore(in: disk.root))
        let start = disk.image
        #expect(start.isDurable)
        let new = [UInt8](repeating: 0x11, count: 300)
        var images = 0, unsure = 0
        for fault in faults(12) {
            let disk = SimulatedDisk(start)
            let store = FileStateStore(in: disk.root)
            if !isFirst { try store.replace(.keybag, of: Self.user, with: Self.keybag) }
            disk.prepare(fault, tracing: true)
            var allowed: Set = [Self.keybag, new]
            do {
                try store.replace(.keybag, of: Self.user, with: new)
                allowed = [new]
            } catch StateError.unsure {
                unsure += 1
                #expect(disk.image.files["people/1000/keybag"] == new)
            } catch StateError.full {
                guard case .full = fault else {
                    Issue.record("a disk that is not full was called full")
                    continue
                }
                allowed = [Self.keybag]
            } catch StateError.failed {
                allowed = [Self.keybag]
            }
            let trace = disk.trace
            for (index, image) in trace.enumerated() {
                for left in try [image] + #require(image.survivors(max: 20_000)) {
                    images += 1
                    let (attempts, keybag) = try content(left)
                    let expected = index == trace.count - 1 ? allowed : [Self.keybag, new]
                    #expect(attempts == Self.attempts && keybag.map(expected.contains) == true)
                }
            }
        }
        print("a keybag replaced: \(images) disks looked at, \(unsure) writes that ended unsure")
        #expect(unsure > 0 && images > 500)
    }

    /// A read that follows an unsure write determines which of the two contents it is, and then it stays.
    @Test("What is read after an unsure write survives a power cut") func valueReadAfterAnUnsureWriteIsKept() throws {
        let disk = SimulatedDisk()
        try create(FileStateStore(in: disk.root))
        let start = disk.image
        var isUnsure = false
        for step in 0..<12 {
            let disk = SimulatedDisk(start)
            disk.prepare(.broken(at: step))
            let store = FileStateStore(in: disk.root)
            do { try store.replace(.keybag, of: Self.user, with: [1]) } catch StateError.unsure { isUnsure = true } catch { continue }
            disk.prepare()
            let read = try store.read(.keybag, of: Self.user, max: 9000)
            #expect(read == [1])
            for left in try #require(disk.image.survivors(max: 20_000)) { #expect(left.files["people/1000/keybag"] == read) }
        }
        #expect(isUnsure)
    }

    private func expectKept(_ disk: SimulatedDisk, sourceLocation: SourceLocation = #_sourceLocation) throws {
        for left in try #require(disk.image.survivors(max: 20_000)) {
            let (attempts, keybag) = try content(left)
            #expect(attempts == Self.attempts && keybag == Self.keybag, sourceLocation: sourceLocation)
        }
    }

    @Test("The names of a user's folders are synced once in a process, and each write then syncs its file and its folder")
    func namesAreSyncedOnce() throws {
        let disk = SimulatedDisk()
        let store = FileStateStore(in: disk.root)
        try create(store)
        for _ in 1...3 {
            disk.prepare()
            try store.replace(.keybag, of: Self.user, with: Self.keybag)
            // Remove, create, write, sync, rename, sync.
            #expect(disk.steps == 6 && disk.image.isDurable)
        }
        // The folder of another user is made and both names are synced, and another process knows of none.
        disk.prepare()
        try store.replace(.keybag, of: Self.user + 1, with: [1])
        #expect(disk.steps == 9)
        disk.prepare()
        try FileStateStore(in: disk.root).replace(.keybag, of: Self.user, with: Self.keybag)
        #expect(disk.steps == 8)
        try expectKept(disk)
    }

    /// The first four steps make both folders and sync their names.
    @Test("A name whose sync failed is synced at the next write", arguments: 0..<4) func failedNameIsSyncedLater(_ step: Int) throws {
        let disk = SimulatedDisk()
        let store = FileStateStore(in: disk.root)
        disk.prepare(.broken(at: step))
        #expect(throws: StateError.self) { try store.replace(.attempts, of: Self.user, with: Self.attempts) }
        disk.prepare()
        try create(store)
        try expectKept(disk)
    }

    @Test("A folder that was moved away is made anew, and its name is synced again", arguments: ["people/1000", "people"])
    func folderThatWasMovedAwayIsMadeAnew(_ path: String) throws {
        let disk = SimulatedDisk()
        let store = FileStateStore(in: disk.root)
        try create(store)
        let parent = path == "people" ? disk.root : try disk.root.subfolder("people", creating: false)
        try parent.rename(path == "people" ? "people" : "1000", to: "away")
        try parent.sync()
        // Without another sync of the name, what is written there can be lost.
        let other = SimulatedDisk(disk.image)
        let place = try other.root.subfolder("people", creating: true).subfolder("1000", creating: true)
        try DurableFile("attempts", in: place).replace(with: Self.attempts)
        #expect(try #require(other.image.survivors(max: 20_000)).contains { $0.files["people/1000/attempts"] == nil })
        try create(store)
        try expectKept(disk)
    }

    @Test("Quarantined files are listed or cause an error") func quarantinedFilesAreListedOrCauseAnError() throws {
        let disk = SimulatedDisk()
        let store = FileStateStore(in: disk.root)
        try create(store)
        #expect(try store.quarantine(.keybag, of: Self.user) == "keybag.quarantined-1")
        #expect(try store.quarantined(.keybag, of: Self.user) == ["keybag.quarantined-1"])
        #expect(try store.quarantined(.accessLog, of: Self.user) == [])
        disk.prepare(.unreadable)
        #expect(throws: StateError.self) { try store.quarantined(.keybag, of: Self.user) }
    }

    /// Once a device secret was returned, it survives every power cut, since every keybag depends on it.
    @Test("A device secret that was used survives a power failure") func theDeviceSecretThatWasUsedStays() throws {
        let disk = SimulatedDisk()
        disk.prepare(tracing: true)
        let made = try DeviceSecret(in: disk.root).deviceIdentifier
        var looked = 0, kept = 0
        for image in disk.trace {
            for left in try [image] + #require(image.survivors(max: 20_000)) {
                let again = SimulatedDisk(left)
                let answered = try DeviceSecret(in: again.root).deviceIdentifier
                if answered == made { kept += 1 }
                for later in try #require(again.image.survivors(max: 20_000)) {
                    looked += 1
                    #expect(try DeviceSecret(in: SimulatedDisk(later).root).deviceIdentifier == answered)
                }
            }
        }
        let last = try #require(disk.trace.last)
        for left in try #require(last.survivors(max: 100)) {
            #expect(try DeviceSecret(in: SimulatedDisk(left).root).deviceIdentifier == made)
        }
        print("device secret: \(looked) disks looked at, \(kept) with the secret of the write that was cut off")
        #expect(looked > 30 && kept > 0)
    }
}
