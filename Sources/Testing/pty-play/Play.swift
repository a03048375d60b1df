import Glibc
import VaubanLinuxHost

/// A scripted user at a terminal.
///
/// `pty-play [--seconds N] [--quiet] [--size ROWSxCOLUMNS] -- COMMAND…` runs the command on a new terminal and follows the script on its
/// standard input, one step per line:
///
///     expect TEXT         waits until the command has written TEXT after what was expected before
///     absent TEXT         fails if the command has written TEXT so far
///     send TEXT           types TEXT and Enter
///     secret TEXT         the same, but fails unless the terminal is without echo
///     key NAME            types one key: ctrl-c, ctrl-d, ctrl-z, esc, enter, backspace, up
///     resize ROWSxCOLUMNS gives the window another size
///     hangup              closes the terminal
///     run COMMAND         runs a shell command beside, and fails if it fails
///
/// Steps wait for the command's output or for the end of what they run, never for a fixed time. Each has N seconds, by default 120, and so
/// has the command to end after the last one; this only detects failures. The program prints what the terminal displayed and exits with the
/// command's status, or with 99 if a step failed or took longer.
struct Play {
    static let failed: Int32 = 99

    private var seconds: UInt64 = 120
    private var isQuiet = false
    private var size = winsize(ws_row: 24, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0)
    private var command: [String] = []

    init(arguments: [String]) throws {
        var rest = arguments[...]
        while let word = rest.popFirst() {
            switch word {
            case "--seconds": seconds = rest.popFirst().flatMap { UInt64($0) } ?? seconds
            case "--quiet": isQuiet = true
            case "--size": size = try Self.size(rest.popFirst() ?? "")
            case "--": command = Array(rest); rest = []
            default: throw Failure("unknown option \(word)")
            }
        }
        guard !command.isEmpty else { throw Failure("no command: pty-play [options] -- COMMAND") }
    }

    func run() throws -> Int32 {
        var steps: [String] = []
        while let line = readLine() { steps.append(line) }
        let stage = try Stage(command, size: size, deadline: deadline)
        defer { if !isQuiet { stage.printTranscript() } }
        for (index, step) in steps.enumerated() {
            guard let (verb, text) = Self.parts(step) else { continue }
            stage.deadline = deadline
            do {
                try Self.play(verb, text, on: stage)
            } catch {
                stage.end()
                throw Failure("step \(index + 1), \(step): \(error)")
            }
        }
        stage.deadline = deadline
        return try stage.exitCode()
    }

    /// When a step that begins now must be done.
    private var deadline: UInt64 { MachineClock.monotonic + seconds * 1_000_000_000 }

    private static func play(_ verb: String, _ text: String, on stage: Stage) throws {
        switch verb {
        case "expect": try stage.expect(text)
        case "absent": if stage.hasShown(text) { throw Failure("it was shown") }
        case "send": try stage.type(Array(text.utf8) + [0x0D])
        case "type": try stage.type(Array(text.utf8))
        case "secret":
            if stage.hasEcho { throw Failure("the terminal would show it") }
            try stage.type(Array(text.utf8) + [0x0D])
        case "key":
            guard let bytes = keys[text] else { throw Failure("unknown key") }
            try stage.type(bytes)
        case "resize": stage.resize(try size(text))
        case "hangup": stage.hangUp()
        case "run": if try stage.run(text) != 0 { throw Failure("it failed; the terminal showed: \(stage.tail)") }
        default: throw Failure("unknown step")
        }
    }

    private static func parts(_ step: String) -> (verb: String, text: String)? {
        if step.isEmpty || step.hasPrefix("#") { return nil }
        guard let space = step.firstIndex(of: " ") else { return (step, "") }
        return (String(step[..<space]), String(step[step.index(after: space)...]))
    }

    private static func size(_ text: String) throws -> winsize {
        let numbers = text.split(separator: "x").compactMap { UInt16($0) }
        guard numbers.count == 2 else { throw Failure("a size is ROWSxCOLUMNS") }
        return winsize(ws_row: numbers[0], ws_col: numbers[1], ws_xpixel: 0, ws_ypixel: 0)
    }

    private static let keys: [String: [UInt8]] = [
        "ctrl-c": [3], "ctrl-d": [4], "ctrl-z": [26], "esc": [27], "enter": [13], "backspace": [127], "up": [27, 91, 65],
        "tab": [9], "ctrl-x": [24],
    ]
}

struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
