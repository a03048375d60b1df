// Real rooms over their real sockets, in a separate folder: the programs of this build, started as a client starts them. The enclave is the
// one with a cheap KDF; nothing else differs from what is shipped.

import Foundation
import Glibc
import Synchronization
import TestSupport
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

final class Rooms: Sendable {
    static let passcode = "correct horse"
    let home: String
    let service: Service
    let keychain: KeychainClient
    let authentication: AuthenticationClient

    /// `enclaveArguments` reach only the enclave for tests, through the launcher for tests; with `hasClock`, its clocks are those of an
    /// `EnclaveClockFile`. `through` is a command that runs the launcher, with its arguments.
    init(
        launcher: String = "rooms-testing", enclaveArguments: [String] = [],
        hasClock: Bool = false, through command: [String] = []
    ) throws {
        // A room that ends reads nothing more of what a test writes to it.
        BrokenPipe.endsNoTests()
        var template = Array("\(NSTemporaryDirectory())/vauban-rooms-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw SystemError("make a temporary folder", code: errno) }
        home = String(cString: made)
        let folder = try PrivateFolder(path: home, creating: false)
        var program = "\(Self.programs)/\(launcher)"
        if !command.isEmpty {
            let script = "#!/bin/sh\nexec \(command.joined(separator: " ")) \(program) \"$@\"\n"
            program = "\(home)/start"
            try ProgramFile.write(Array(script.utf8), to: program)
        }
        try ServiceFile.write(launcher: program, in: folder)
        let words = enclaveArguments + (hasClock ? ["--clock", EnclaveClockFile.path(home: home)] : [])
        if !words.isEmpty {
            try DurableFile("enclave-arguments", in: folder).replace(with: Array(words.joined(separator: "\n").utf8))
        }
        service = Service.own(.named(home: home), home: home, ServiceEnvironment(namedHome: home, userHome: nil, runtimeFolder: nil))
        keychain = KeychainClient(service: service)
        authentication = AuthenticationClient(service: service)
        try startService()
    }

    /// Starts the rooms; again if the machine halted for longer than a client waits. The launcher that was then given up may still be
    /// starting, and the next one gives up too if that takes long.
    func startService() throws {
        let deadline = MachineClock.monotonic + HangLimit.nanoseconds
        var wasLate = false
        while true {
            do throws(SystemError) {
                if try ServiceStarter.start(service) { return }
                guard wasLate, MachineClock.monotonic < deadline else { throw SystemError("start the rooms in \(home)", code: ECHILD) }
            } catch {
                guard error.code == ETIMEDOUT || wasLate, MachineClock.monotonic < deadline else { throw error }
                wasLate = true
            }
        }
    }

    /// Stops the rooms, and waits until their launcher has exited. Returns false if none is running.
    @discardableResult
    func stopService() throws -> Bool { try LauncherControl.stop(home: home, within: HangLimit.nanoseconds) }

    deinit {
        _ = try? stopService()
        try? FileManager.default.removeItem(atPath: home)
    }

    static var programs: String { BuiltPrograms.folder }

    func setPasscode(_ passcode: String = Rooms.passcode) throws {
        try answered(orDone: .passcodeAlreadySet) { try authentication.setPasscode(secret(passcode)) }
    }

    func unlock(_ passcode: String = Rooms.passcode) throws { try answered { try authentication.unlock(secret(passcode)) } }

    /// Registers an agent for every caller, which gives these answers in turn.
    func user(_ answers: [ScriptedUser.Answer]) throws -> ScriptedUser {
        try ScriptedUser(service: service, answers: answers)
    }

    /// Waits until the witness has read this test program, whose hundreds of megabytes a busy machine may not read within the time that the
    /// enclave waits for an identity; the witness remembers what it has read. The prompt by which a test sees that needs a passcode that is
    /// set, and is cancelled.
    func awaitIdentification() throws {
        try awaitTrue("this program identified") {
            let user = try self.user([.cancel])
            defer { user.leave() }
            _ = refusal { try authentication.changeByPrompt(.makeRecoveryKey) }
            return user.requests.last?.caller.path != nil
        }
        try awaitTrue("the end of the prompt agent") { try authentication.status().promptPlaces.isEmpty }
    }

    // MARK: Items

    func add(
        _ service: String, _ account: String, _ value: String, _ protection: ProtectionClass = .whenUnlocked, control: AccessControl? = nil
    ) throws {
        let record = ItemRecord(
            kind: .genericPassword, attributes: ItemAttributes([.service: .text(service), .account: .text(account)]),
            protection: protection, accessControl: control)
        let value: SecretBytes? = secret(value)
        try answered(orDone: .duplicateItem) { _ = try keychain.add(record, secret: value) }
    }

    func read(_ service: String, _ account: String, prompt: String? = nil, waiting: KeychainClient.Waiting? = nil) throws -> String {
        var query = Self.query(service, account)
        query.returns.insert(.data)
        query.operationPrompt = prompt
        guard let found = try answered({ try keychain.copyMatching(query, waiting: waiting) }).first?.takeSecret() else { return "" }
        return String(decoding: found.disclosed(), as: UTF8.self)
    }

    static func query(_ service: String, _ account: String) -> ItemQuery {
        ItemQuery(kind: .genericPassword, attributes: ItemAttributes([.service: .text(service), .account: .text(account)]))
    }

    // MARK: Processes

    /// Returns the process of a room, as the kernel lists the launcher's children.
    func process(of room: String) throws -> pid_t {
        let launcher = try launcherProcess()
        for entry in try FileManager.default.contentsOfDirectory(atPath: "/proc") {
            guard let pid = pid_t(entry), let text = SmallFile.text(path: "/proc/\(entry)/stat", max: 4096),
                let close = text.lastIndex(of: ")")
            else { continue }
            let fields = text[text.index(after: close)...].split(separator: " ")
            if fields.count > 1, pid_t(fields[1]) == launcher, fields[0] != "Z", Self.name(of: pid) == Substring(room) { return pid }
        }
        throw SystemError("find the process of \(room)", code: ESRCH)
    }

    /// Returns the name of a room's process: of its program, or the first word of the one that is several rooms.
    private static func name(of process: pid_t) -> Substring? {
        let words = SmallFile.text(path: "/proc/\(process)/cmdline", max: 65536)?.split(separator: "\0") ?? []
        let program = words.first?.split(separator: "/").last
        return program == "rooms-testing" && words.count > 1 ? words[1] : program
    }

    /// Returns the launcher's process, from the lock file, which begins with `launcher PID START`.
    func launcherProcess() throws -> pid_t {
        let words = SmallFile.text(path: "\(home)/lock", max: 512)?.split(whereSeparator: { $0 == " " || $0 == "\n" }) ?? []
        guard words.count > 1, let pid = pid_t(words[1]) else { throw SystemError("read the launcher's process", code: ESRCH) }
        return pid
    }

    /// Stops a process and waits until each of its threads is stopped: one that runs may still answer.
    func stop(_ process: pid_t) throws {
        kill(process, SIGSTOP)
        let deadline = MachineClock.monotonic + HangLimit.nanoseconds
        while MachineClock.monotonic < deadline {
            let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")
            let states = threads.map {
                SmallFile.text(path: "/proc/\(process)/task/\($0)/stat", max: 4096)?.split(separator: ")").last?.first { $0 != " " }
            }
            if states.allSatisfy({ $0 == "T" }) { return }
            sched_yield()
        }
        throw SystemError("see process \(process) stop", code: ETIMEDOUT)
    }

    /// Kills a room and waits until another process has replaced it.
    func killAndAwait(_ room: String, _ known: pid_t? = nil) throws {
        let old = try known ?? process(of: room)
        let ended = try ProcessDescriptorForTests.open(old)
        kill(old, SIGKILL)
        var poller = pollfd(fd: ended.number, events: Int16(POLLIN), revents: 0)
        poll(&poller, 1, HangLimit.milliseconds)
        let deadline = MachineClock.monotonic + HangLimit.nanoseconds
        while MachineClock.monotonic < deadline {
            if let now = try? process(of: room), now != old { return }
            sched_yield()
        }
        throw SystemError("see \(room) come back", code: ETIMEDOUT)
    }
}

func secret(_ text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8)) }

extension Refusal {
    /// Whether the keychain, or the enclave behind it, did not answer in time. The call may have taken effect nevertheless.
    var isUnanswered: Bool { reason == .unavailable && detail?.contains("not answer") == true }
}

/// Returns the result of a call, which is made again, at most twice, if a halted machine left it unanswered. It may have taken effect then.
@discardableResult
func answered<Value>(_ call: () throws -> Value) throws -> Value {
    for _ in 0..<2 {
        do { return try call() } catch let refusal as Refusal where refusal.isUnanswered {}
    }
    return try call()
}

/// Makes a change in the same way. If it took effect although it was not answered, it is refused for this reason when it is made again.
func answered(orDone reason: Refusal.Reason, _ change: () throws -> Void) throws {
    do { return try change() } catch let refusal as Refusal where refusal.isUnanswered {}
    do { try answered(change) } catch let refusal as Refusal where refusal.reason == reason {}
}

/// Returns the reason of a refusal, or nil if the body succeeded.
func refusal(_ body: () throws -> Void) -> Refusal.Reason? {
    do { try body() } catch let refusal as Refusal { return refusal.reason } catch { return .internalError }
    return nil
}
