import Foundation
import Glibc
import Security

/// Measures how speed depends on the number of items: in one keychain of N items, the same work by 1, 4 and 16 client processes,
/// keychaind's memory, a cold start and an unlock.
struct Scale {
    var items = 1000
    var seconds = 2.0
    var clients = [1, 4, 16]
    var pairs = 200
    var starts = 7
    let home: String
    /// The path of the command line from the same build.
    let vauban: String

    func run() throws {
        let floor = try measureFloor()
        Table.say("\(items) items, floor \(Table.text(floor.median)) us there and back, twice that a get's floor\n")
        Table.row(["work", "clients", "median us", "p99 us", "a second", "of floor"])
        for number in clients {
            for work in [Fleet.Work.get, .search, .update] {
                show(work, clients: number, result: try Fleet.run(work, clients: number, items: items, seconds: seconds), floor: floor)
            }
            let added = try Fleet.run(.add, clients: number, items: items, seconds: seconds)
            show(.add, clients: number, result: added, floor: floor)
            show(
                .delete, clients: number,
                result: try Fleet.run(.delete, clients: number, items: items, seconds: seconds, counts: added.counts), floor: floor)
        }
        try compareAdds(floor)
        showMemory()
        try measureUnlock()
        try measureStart()
    }

    private func measureFloor() throws -> Samples {
        let pair = try Floor()
        defer { pair.end() }
        _ = try pair.measure(5000)
        return try pair.measure(50_000)
    }

    private func show(_ work: Fleet.Work, clients: Int, result: Fleet.Result, floor: Samples) {
        let ratio = result.samples.median / (2 * floor.median)
        Table.row([
            work.rawValue, "\(clients)", Table.text(result.samples.median), Table.text(result.samples.p99), Table.text(result.perSecond),
            Table.text(ratio),
        ])
    }

    /// Compares a durable add with a bare synced transaction in a database with the same number of rows. They alternate, since the speed of
    /// a disk varies.
    private func compareAdds(_ floor: Samples) throws {
        let path = "\(home)/bare.db"
        defer { for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) } }
        let database = try BareDatabase(path: path)
        defer { database.close() }
        try database.fill(items)
        var added: [UInt64] = []
        var bare: [UInt64] = []
        let first = Fleet.firstAdded(0, items)
        for turn in 0..<pairs {
            added.append(try Items.timeAdd(first + turn))
            let start = Samples.now
            try database.add()
            bare.append(Samples.now - start)
        }
        for turn in 0..<pairs { try Items.delete(first + turn) }
        let (add, transaction) = (Samples(added), Samples(bare))
        let target = 2 * transaction.median + 2 * floor.median
        Table.say(
            """
            \nadd \(Table.text(add.median)), beside it a bare synced transaction \(Table.text(transaction.median)) us: \
            \(Table.text(add.median / transaction.median)) 
            """
                + "times; twice it and the floor are \(Table.text(target))")
    }

    private func showMemory() {
        for (name, process) in Cast(home: home).members where name != "client" {
            let lines = ((try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? "").split(separator: "\n")
            let shown = ["VmRSS:", "RssAnon:", "VmHWM:"].map { key in
                "\(key) \(lines.first { $0.hasPrefix(key) }?.split(separator: "\t").last?.trimmingCharacters(in: .whitespaces) ?? "?")"
            }
            Table.say("\(name): \(shown.joined(separator: ", "))")
        }
    }

    /// Measures an unlock with the command line, a status request with it (the same without the unlock), the processor time that enclaved
    /// takes for the unlock, and one synced write of a state file at the same time.
    private func measureUnlock() throws {
        var unlocks: [UInt64] = []
        var statuses: [UInt64] = []
        var computed: [UInt64] = []
        var writes: [UInt64] = []
        guard let enclave = Cast(home: home).members.first(where: { $0.name == "enclaved" })?.pid else {
            throw Failure("there is no enclaved")
        }
        for _ in 0..<starts {
            _ = try command(["lock"])
            let before = try computing(enclave)
            unlocks.append(try command(["unlock", "--passcode-fd", "0"], input: Self.passcode))
            computed.append(try computing(enclave) - before)
            statuses.append(try command(["status"]))
            writes.append(try SyncedFile.time(in: home))
        }
        let (unlock, status, kdf) = (Samples(unlocks).median / 1000, Samples(statuses).median / 1000, Samples(computed).median / 1000)
        Table.say(
            """
            unlock \(Table.text(unlock)) ms by `vauban unlock`, of which `vauban status` takes \(Table.text(status)) and enclaved \
            computes \(Table.text(kdf)); 
            """
                + """
                left are \(Table.text(unlock - status - kdf)), in which are its synced writes, \
                \(Table.text(Samples(writes).median / 1000)) each
                """
        )
    }

    /// Returns the processor time of all threads of a process in nanoseconds, including threads that have ended.
    private func computing(_ process: pid_t) throws -> UInt64 {
        var clock = clockid_t()
        var time = timespec()
        guard clock_getcpuclockid(process, &clock) == 0, clock_gettime(clock, &time) == 0 else {
            throw Failure("process \(process) has no clock")
        }
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Measures the time from starting the service to its first reply, which is the refusal before the first unlock.
    private func measureStart() throws {
        var calls: [UInt64] = []
        for _ in 0..<starts {
            _ = try command(["stop"])
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            process.arguments = [Self.firstArgument]
            let answer = Pipe()
            process.standardOutput = answer
            try process.run()
            let text = String(decoding: answer.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            guard process.terminationStatus == 0, let time = UInt64(text) else { throw Failure("there was no first answer: \(text)") }
            calls.append(time)
        }
        let samples = Samples(calls)
        Table.say(
            """
            cold start to the first answer, a refusal: median \(Table.text(samples.median / 1000)) ms, slowest \
            \(Table.text(samples.p99 / 1000))
            """
        )
        _ = try command(["unlock", "--passcode-fd", "0"], input: Self.passcode)
    }

    static let firstArgument = "first"
    private static let passcode = "only-for-measuring\n"

    private func command(_ words: [String], input: String? = nil) throws -> UInt64 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: vauban)
        process.arguments = words
        let pipe = Pipe()
        process.standardInput = pipe
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        let start = Samples.now
        try process.run()
        if let input { pipe.fileHandleForWriting.write(Data(input.utf8)) }
        try pipe.fileHandleForWriting.close()
        process.waitUntilExit()
        let time = Samples.now - start
        guard process.terminationStatus == 0 else { throw Failure("vauban \(words[0]) ended with \(process.terminationStatus)") }
        return time
    }
}

/// Adds items through the keychain's API with several clients, each of which adds a part.
enum Filling {
    static let argument = "fill"
    static let partArgument = "fill-part"

    static func run(from: Int, to: Int, clients: Int) throws {
        let start = Samples.now
        let members = try (0..<clients).map { client in
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            process.arguments = [partArgument, "\(from + client)", "\(to)", "\(clients)"]
            try process.run()
            return process
        }
        for process in members { process.waitUntilExit() }
        guard members.allSatisfy({ $0.terminationStatus == 0 }) else { throw Failure("the items could not all be added") }
        let seconds = Double(Samples.now - start) / 1e9
        Table.say("added items \(from) to \(to) in \(Table.text(seconds)) s, \(Table.text(Double(to - from) / seconds)) a second")
    }

    static func part(_ words: [String]) throws {
        let numbers = words.compactMap { Int($0) }
        guard numbers.count == 3 else { throw Failure("fill-part takes three numbers") }
        for index in stride(from: numbers[0], to: numbers[1], by: numbers[2]) { try Items.add(index) }
    }
}

/// Replaces a small file in the way that state files are replaced: writes it beside, syncs, renames, and syncs the folder.
enum SyncedFile {
    static func time(in folder: String) throws -> UInt64 {
        let path = "\(folder)/synced"
        let bytes = [UInt8](repeating: 7, count: 512)
        let start = Samples.now
        let file = open("\(path).new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        let directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer {
            close(file)
            close(directory)
            unlink(path)
        }
        guard file >= 0, directory >= 0, write(file, bytes, bytes.count) == bytes.count, fsync(file) == 0, rename("\(path).new", path) == 0,
            fsync(directory) == 0
        else { throw Failure("a synced write failed: \(errno)") }
        return Samples.now - start
    }
}

enum Table {
    static func text(_ number: Double) -> String { String(format: "%.1f", number) }
    /// Writes a line immediately, so that a long run shows its progress.
    static func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

    static func row(_ cells: [String]) {
        say(
            cells.enumerated().map { index, cell in
                let pad = String(repeating: " ", count: max((index == 0 ? 8 : 12) - cell.count, 0))
                return index == 0 ? cell + pad : pad + cell
            }.joined())
    }
}
