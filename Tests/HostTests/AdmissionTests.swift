import Dispatch
import Foundation
import Glibc
import Synchronization
import Testing
import VaubanLinuxHost
import VaubanRefusal

/// Which users may use the installed service, which user each state folder belongs to, and what a room logs about it.
@Suite struct AdmissionTests {
    private let etc: TestFolder
    private let accounts: Accounts

    init() throws {
        etc = try TestFolder()
        try FileManager.default.createDirectory(atPath: "\(etc.path)/vauban", withIntermediateDirectories: false)
        accounts = Accounts(folder: etc.path, filesOwner: geteuid())
        try write("passwd", "anna:x:1000:1000::/:/bin/sh\n")
        try write("subuid", "anna:100000:65536\n")
    }

    private func write(_ name: String, _ text: String) throws {
        let path = "\(etc.path)/\(name)"
        try Data(text.utf8).write(to: URL(fileURLWithPath: path + ".new"))
        chmod(path + ".new", 0o644)
        try #require(rename(path + ".new", path) == 0)
    }

    private func refusal(_ uid: UInt32, _ names: NameService) -> Refusal? {
        do throws(Refusal) {
            try Admission(accounts: accounts, names: names).admit(uid)
            return nil
        } catch {
            return error
        }
    }

    @Test("The refusal of an unknown uid says what root can do")
    func unknownUIDs() throws {
        let names = NameService(ask: { _ in .nobody })
        #expect(refusal(1000, names) == nil && refusal(100_001, names) == nil)
        for uid: UInt32 in [61_184, 54_321] {
            let refusal = try #require(self.refusal(uid, names))
            #expect(refusal.reason == .notAllowedHere && refusal.detail?.contains("/etc/vauban/uids") == true)
        }
        try write("vauban/uids", "54321\n61184-65519 each\n")
        #expect(refusal(61_184, names) == nil && refusal(54_321, names) == nil)
    }

    @Test("A directory's user stays known while the name service does not answer")
    func directoryUsers() throws {
        let answer = Mutex(NameService.Answer.silent), time = Mutex<UInt64>(1)
        let names = NameService(now: { time.withLock { $0 } }) { _ in answer.withLock { $0 } }
        #expect(refusal(70_000, names)?.reason == .unavailable)
        #expect(accounts.owner(of: 70_000) == Accounts.unlistedOwner)
        answer.withLock { $0 = .named("carla") }
        // Not queried again at once.
        #expect(refusal(70_000, names)?.reason == .unavailable)
        time.withLock { $0 += NameLimits.nobodyTime }
        #expect(refusal(70_000, names) == nil && accounts.name(of: 70_000) == "carla" && accounts.owner(of: 70_000) == 70_000)
        answer.withLock { $0 = .silent }
        time.withLock { $0 += 2 * NameLimits.nameTime }
        #expect(refusal(70_000, names) == nil)
    }

    @Test("A hanging name service does not block a user whom it named before")
    func hangingNameServiceBlocksNoKnownUser() throws {
        let hangs = Mutex(false), time = Mutex<UInt64>(1), ends = DispatchSemaphore(value: 0)
        let names = NameService(now: { time.withLock { $0 } }) { uid in
            if hangs.withLock({ $0 }) { ends.wait() }
            return .named("user\(uid)")
        }
        #expect(names.user(70_000) == .named("user70000"))
        hangs.withLock { $0 = true }
        time.withLock { $0 += 2 * NameLimits.nameTime }
        // Queried again in the background, once, and no caller waits for it.
        for _ in 0..<100 { #expect(names.user(70_000) == .named("user70000")) }
        // A refresh uses one of the concurrent queries; beyond their limit no caller waits either.
        for _ in 0..<NameLimits.askedMax { ends.signal() }
    }

    @Test("A name that is an hour old is used only if the name service does not reply")
    func oldNames() throws {
        let answer = Mutex(NameService.Answer.named("carla")), time = Mutex<UInt64>(1)
        let names = NameService(now: { time.withLock { $0 } }) { _ in answer.withLock { $0 } }
        #expect(names.user(70_000) == .named("carla"))
        // The directory gives the uid to another user.
        answer.withLock { $0 = .named("dora") }
        time.withLock { $0 += NameLimits.oldNameTime }
        #expect(names.user(70_000) == .named("dora"))
        answer.withLock { $0 = .silent }
        time.withLock { $0 += NameLimits.oldNameTime }
        #expect(names.user(70_000) == .named("dora"))
    }

    @Test("Many directory users at once wait for their turn and are not refused")
    func manyDirectoryUsersAtOnce() throws {
        let count = 3 * NameLimits.askedMax, asked = Mutex(0), most = Mutex(0), begun = DispatchSemaphore(value: 0)
        let mayAnswer = DispatchSemaphore(value: 0), answered = DispatchSemaphore(value: 0), answers = Mutex<[NameService.Answer]>([])
        let names = NameService(ask: { uid -> NameService.Answer in
            let now = asked.withLock { asked -> Int in
                asked += 1
                return asked
            }
            most.withLock { $0 = max($0, now) }
            begun.signal()
            mayAnswer.wait()
            asked.withLock { $0 -= 1 }
            return .named("user\(uid)")
        })
        for uid in UInt32(70_000)..<UInt32(70_000 + count) {
            Thread {
                let answer = names.user(uid)
                answers.withLock { $0.append(answer) }
                answered.signal()
            }.start()
        }
        for _ in 0..<NameLimits.askedMax { begun.wait() }
        for _ in 0..<count { mayAnswer.signal() }
        for _ in 0..<count { answered.wait() }
        #expect(answers.withLock { $0.allSatisfy { $0 != .silent } } && most.withLock { $0 } == NameLimits.askedMax)
    }

    @Test("The name service of the system names root and does not name an unused uid")
    func theSystem() {
        #expect(NameService.system(0) == .named("root"))
        #expect(NameService.system(3_999_999_999) == .nobody)
    }

    // MARK: The holder of a state

    private func holders(_ state: TestFolder) -> StateHolders { StateHolders(accounts: accounts) { state.folder } }

    private func verify(_ uid: UInt32, _ holders: StateHolders) -> Refusal? {
        do throws(Refusal) {
            try holders.verify(uid)
            return nil
        } catch {
            return error
        }
    }

    @Test("The next user of a uid cannot use the keychain of the previous one")
    func anotherHolder() throws {
        let state = try TestFolder()
        let holders = holders(state)
        #expect(verify(1000, holders) == nil && !state.folder.contains("1000"))
        let place = try state.folder.subfolder("1000", creating: true)
        // A folder of an earlier version is bound to the present user of the number.
        #expect(verify(1000, holders) == nil)
        #expect(try StateHolder.read(in: place) == StateHolder(uid: 1000, name: "anna"))
        try write("passwd", "bert:x:1000:1000::/:/bin/sh\n")
        let refusal = try #require(verify(1000, holders))
        #expect(
            refusal.reason == .notAllowedHere
                && ["anna", "bert", "vauban-state keep 1000", "vauban-state set-aside 1000"].allSatisfy {
                    refusal.detail?.contains($0) == true
                })
        // It is verified each time, so a change by root takes effect by itself: a renamed user, as `vauban-state keep` writes it.
        try StateHolder(uid: 1000, name: "bert").write(in: place)
        #expect(verify(1000, holders) == nil)
        try write("passwd", "anna:x:1000:1000::/:/bin/sh\n")
        #expect(verify(1000, holders)?.reason == .notAllowedHere)
    }

    @Test("A subordinate uid's keychain is bound to its owner")
    func subordinateHolders() throws {
        let state = try TestFolder()
        let place = try state.folder.subfolder("100005", creating: true)
        #expect(verify(100_005, holders(state)) == nil)
        #expect(try StateHolder.read(in: place)?.name == "subordinate:anna")
        try write("passwd", "bert:x:1001:1001::/:/bin/sh\n")
        try write("subuid", "bert:100000:65536\n")
        #expect(verify(100_005, holders(state))?.reason == .notAllowedHere)
    }

    @Test("A directory user's subordinate uid stays bound to the same owner")
    func subordinateHoldersOfDirectoryUsers() throws {
        try write("subuid", "70000:300000:65536\n")
        let state = try TestFolder()
        let place = try state.folder.subfolder("300005", creating: true)
        #expect(verify(300_005, holders(state)) == nil)
        #expect(try StateHolder.read(in: place)?.name == "subordinate:70000")
        // The owner connects, and the name service names them: this is the same owner.
        accounts.confirm(70_000, name: "carla")
        #expect(verify(300_005, holders(state)) == nil)
    }

    /// The enclave queries no name service: the rooms send it the names with the callers.
    @Test("The next directory user of a uid cannot use the keychain of the previous one")
    func anotherDirectoryHolder() throws {
        let state = try TestFolder()
        let holders = holders(state)
        let place = try state.folder.subfolder("70000", creating: true)
        accounts.recognize(70_000)
        #expect(verify(70_000, holders) == nil && !place.contains(StateHolder.fileName))
        accounts.recognize(70_000, name: "carla")
        #expect(verify(70_000, holders) == nil)
        #expect(try StateHolder.read(in: place) == StateHolder(uid: 70_000, name: "carla"))
        accounts.recognize(70_000, name: "dora")
        #expect(verify(70_000, holders)?.reason == .notAllowedHere)
        #expect(accounts.confirmedName(of: 70_000) == "dora")
        // The name of a listed user is the one in the system's list.
        accounts.recognize(1000, name: "dora")
        #expect(accounts.name(of: 1000) == "anna" && accounts.confirmedName(of: 1000) == nil)
    }

    @Test(
        "A damaged holder file refuses every user",
        arguments: ["", "vauban holder 2\n1000 anna\n", "vauban holder 1\nanna\n", "vauban holder 1\n1000 anna\nx"])
    func damagedHolderFilesRefuse(_ text: String) throws {
        let state = try TestFolder()
        let place = try state.folder.subfolder("1000", creating: true)
        try DurableFile(StateHolder.fileName, in: place).replace(with: Array(text.utf8))
        #expect(verify(1000, holders(state))?.reason == .stateUnreadable)
    }

    // MARK: The log

    @Test("Refusals write few log lines a minute, and the others are counted")
    func boundedLog() {
        let time = Mutex<UInt64>(1)
        let limiter = LogLimiter(now: { time.withLock { $0 } })
        let written = (0..<1000).compactMap { _ in limiter.line(about: 1000) }
        #expect(written == [Int](repeating: 0, count: LogLimiter.linesPerOwnerMax))
        // The error of another owner is still logged, with the number of lines that were left out.
        #expect(limiter.line(about: 1001) == 1000 - LogLimiter.linesPerOwnerMax && limiter.line(about: 1001) == 0)
        let all = (2000..<4000).count { limiter.line(about: $0) != nil }
        #expect(all == LogLimiter.linesMax - LogLimiter.linesPerOwnerMax - 2)
        time.withLock { $0 += LogLimiter.period }
        #expect(limiter.line(about: 1000) == 2000 - all && limiter.line(about: 1000) == 0)
    }

    // MARK: The witness's connection

    @Test("Requests wait for a lost standing connection only until a deadline")
    func expectation() {
        var expectation = ReconnectionDeadline(from: 100, grace: 50)
        #expect(expectation.wait(from: 100, until: 130) == 130 && expectation.wait(from: 140, until: 170) == 150)
        #expect(expectation.wait(from: 150, until: 180) == nil && expectation.wait(from: 9_000, until: 9_030) == nil)
        expectation.lost(at: 10_000)
        #expect(expectation.wait(from: 10_001, until: 10_031) == 10_031 && expectation.wait(from: 10_050, until: 10_080) == nil)
    }
}
