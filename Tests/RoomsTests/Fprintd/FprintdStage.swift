import Foundation
import Glibc
import TestSupport
import Testing
import VaubanLinuxHost

/// Rooms whose reader uses real fprintd with a virtual sensor, on a bus of their own (`Tests/Scripts/lib/fprintd-stage.sh`), and a user of
/// the command line with the item bank/me, which requires presence.
final class FprintdStage {
    static let present = "enrolled; 5 more may fail"
    static let missing = "the reader is missing"
    /// The longest wait for an event, which only a test that hangs reaches.
    static let seconds: UInt64 = 240

    let bus: FprintdBus
    let rooms: Rooms
    var folder: String { bus.folder }

    struct MissingStatus: Error, CustomStringConvertible { let description: String }

    /// Starts the bus and the rooms, then fprintd, and enrolls a finger.
    init(hasFprintd: Bool = true, isEnrolled: Bool = true, enclaveArguments: [String] = []) throws {
        guard access("\(Rooms.programs)/rooms-testing", X_OK) == 0 else {
            throw try FprintdBus.cancellation("rooms-testing is not built")
        }
        bus = try FprintdBus()
        let address = ["env", "VAUBAN_TEST_READER_BUS=\(bus.address)", "VAUBAN_TEST_BUS_OWNER=\(geteuid())"]
        rooms = try Rooms(enclaveArguments: enclaveArguments, through: address)
        try rooms.setPasscode()
        #expect(try vauban("set", "bank/me", "--require", "presence", input: "the secret").status == 0)
        guard hasFprintd else { return }
        try bus.perform("start_fprintd")
        try awaitStatus("reader available; no finger enrolled")
        if isEnrolled { try enroll() }
    }

    // MARK: The machine

    /// Puts the machine to sleep once nothing delays that.
    func putToSleep() throws {
        try bus.perform("tell_logind sleep")
        try bus.perform("expect_logind released")
    }

    /// Wakes the sleeping machine, and waits until its reader is present again.
    func wakeUp() throws {
        try awaitStatus(Self.missing)
        try bus.perform("tell_logind wake")
        // fprintd delays the next sleep when it has woken the sensor.
        try bus.perform("expect_logind 'inhibit sleep net.reactivated.Fprint delay'")
        try awaitStatus(Self.present)
    }

    /// The process of fprintd that `start_fprintd` started.
    func fprintd() throws -> pid_t { try #require(pid_t(try bus.perform("echo $fprintd_pid"))) }
    func reader() throws -> pid_t { try rooms.process(of: "vauban-reader") }

    // MARK: The user

    typealias Output = StartedProgram.Output

    /// Runs the command line without a terminal.
    @discardableResult func vauban(_ words: String..., input: String = "") throws -> Output {
        try run(["/usr/bin/setsid", "--wait", "\(Rooms.programs)/vauban"] + words, input: input).ended()
    }

    @discardableResult func withPasscode(_ words: String..., passcode: String = Rooms.passcode) throws -> Output {
        let command = ["/usr/bin/setsid", "--wait", "\(Rooms.programs)/vauban"] + words + ["--passcode-fd", "0"]
        return try run(command, input: "\(passcode)\n").ended()
    }

    /// Begins to touch the sensor, each time when a finger is wanted.
    func touching(_ touches: [String]) throws -> StartedProgram { try run(["\(folder)/bus/finger", "touch"] + touches) }

    /// Enrolls a finger, with these touches of the sensor.
    @discardableResult func enroll(
        _ options: [String] = [], touches: [String] = Array(repeating: "SCAN alice", count: 5),
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Output {
        let finger = try touching(touches)
        let output = try enrolling(options).ended()
        #expect(try finger.ended().status == 0, "\(log)", sourceLocation: sourceLocation)
        #expect(output.status == 0, "\(output)", sourceLocation: sourceLocation)
        return output
    }

    /// Begins to enroll a finger.
    func enrolling(_ options: [String] = []) throws -> StartedProgram {
        let command = ["/usr/bin/setsid", "--wait", "\(Rooms.programs)/vauban", "finger", "enroll", "--passcode-fd", "0"] + options
        return try run(command, input: "\(Rooms.passcode)\n")
    }

    /// Reads the item at a new terminal, and plays these steps after the prompt appeared. Besides the steps of pty-play there are those of
    /// own-fprintd.py: `touch COMMAND, COMMAND…`, `early COMMAND` and `wanted`.
    func read(_ steps: String, endsWith status: Int32 = 0, sourceLocation: SourceLocation = #_sourceLocation) throws {
        try play(["get", "bank/me"], "expect Action:\n\(steps)", endsWith: status, sourceLocation: sourceLocation)
    }

    /// Reads the item with a touch that matches.
    func readByFinger(sourceLocation: SourceLocation = #_sourceLocation) throws {
        try read("expect Touch the fingerprint reader\ntouch SCAN alice\nexpect the secret", sourceLocation: sourceLocation)
    }

    /// Reads the item with the passcode, after these steps, and plays the others before the passcode is typed.
    func readByPasscode(_ steps: String = "", after more: String = "", sourceLocation: SourceLocation = #_sourceLocation) throws {
        try read(
            """
            \(steps)
            expect Passcode (
            \(more)
            secret \(Rooms.passcode)
            expect the secret
            """, sourceLocation: sourceLocation)
    }

    func play(_ words: [String], _ steps: String, endsWith status: Int32 = 0, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let output = try playing(words, steps).ended()
        #expect(output.status == status, "\(output)\n\(log)", sourceLocation: sourceLocation)
    }

    /// Begins to play steps at a new terminal.
    func playing(_ words: [String], _ steps: String) throws -> StartedProgram {
        let lines = steps.split(separator: "\n").map { line in
            let (verb, rest) = (line.prefix { $0 != " " }, line.drop { $0 != " " }.dropFirst())
            guard ["touch", "early", "wanted"].contains(verb) else { return String(line) }
            let commands = rest.components(separatedBy: ", ").filter { !$0.isEmpty }.map { "'\($0)'" }
            return (["run \(folder)/bus/finger \(verb)"] + commands).joined(separator: " ")
        }
        let player = ["\(Rooms.programs)/pty-play", "--seconds", "\(Self.seconds)", "--", "\(Rooms.programs)/vauban"]
        return try run(player + words, input: lines.joined(separator: "\n") + "\n")
    }

    // MARK: What is seen

    var status: String { get throws { try vauban("status").out } }

    /// Waits until the status has this text.
    func awaitStatus(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let deadline = MachineClock.monotonic + Self.seconds * 1_000_000_000
        var shown = ""
        while MachineClock.monotonic < deadline {
            shown = try status
            if shown.contains(text) { return }
        }
        throw MissingStatus(description: "the status does not say “\(text)”:\n\(shown)\n\(log)")
    }

    /// What the rooms and the user's finger have printed so far.
    var log: String {
        ["\(rooms.home)/vauban.log", "\(folder)/touches", "\(folder)/fprintd.log"]
            .map { "\($0):\n\((try? String(contentsOfFile: $0, encoding: .utf8)) ?? "")" }.joined(separator: "\n")
    }

    /// The files in which fprintd keeps templates.
    var templates: [String] {
        let names = FileManager.default.enumerator(atPath: "\(folder)/fprint")?.compactMap { $0 as? String } ?? []
        var isFolder: ObjCBool = false
        return names.map { "\(folder)/fprint/\($0)" }.filter {
            FileManager.default.fileExists(atPath: $0, isDirectory: &isFolder) && !isFolder.boolValue
        }
    }

    /// Starts a program in the user's environment.
    func run(_ command: [String], input: String = "") throws -> StartedProgram {
        let environment = ["VAUBAN_HOME": rooms.home, "HOME": folder, "TERM": "xterm", "PATH": "/usr/local/bin:/usr/bin:/bin"]
        return try StartedProgram(command, environment: environment, input: input)
    }
}
