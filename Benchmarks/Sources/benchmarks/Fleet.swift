import Foundation
import Glibc

/// Client processes that do the same work concurrently. Each is a process of this program with its own connection.
struct Fleet {
    static let argument = "client"

    enum Work: String { case get, attributes, search, update, add, delete, sign }

    struct Result {
        let samples: Samples
        /// The operations per second of all clients together, from the common start to the end of the last.
        let perSecond: Double
        let counts: [Int]
    }

    /// Returns the first item that a client adds: above the items of all others, and the same for the client that deletes them.
    static func firstAdded(_ client: Int, _ items: Int) -> Int { items + (client + 1) * 10_000_000 }

    /// Runs the work for `seconds` with `clients` clients. `counts` limits the operations of each.
    static func run(_ work: Work, clients: Int, items: Int, seconds: Double, counts: [Int]? = nil) throws -> Result {
        var members: [Process] = []
        var ends: [(start: FileHandle, answers: FileHandle)] = []
        for client in 0..<clients {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            process.arguments = [argument, work.rawValue, client, clients, items, seconds, counts?[client] ?? Int.max].map { "\($0)" }
            let (start, answers) = (Pipe(), Pipe())
            process.standardInput = start
            process.standardOutput = answers
            try process.run()
            members.append(process)
            ends.append((start.fileHandleForWriting, answers.fileHandleForReading))
        }
        // Each client reports when it is connected; then all start.
        for end in ends where end.answers.readData(ofLength: 1).count != 1 { throw Failure("a client of \(work) did not come up") }
        let began = Samples.now
        for end in ends { end.start.write(Data([1])) }
        var times: [UInt64] = []
        var done: [Int] = []
        var last: UInt64 = began
        for (process, end) in zip(members, ends) {
            let numbers = end.answers.readDataToEndOfFile().withUnsafeBytes { bytes in
                stride(from: 0, to: bytes.count - 7, by: 8).map { bytes.loadUnaligned(fromByteOffset: $0, as: UInt64.self) }
            }
            process.waitUntilExit()
            guard process.terminationStatus == 0, let ended = numbers.last else { throw Failure("a client of \(work) failed") }
            last = max(last, ended)
            times += numbers.dropLast()
            done.append(numbers.count - 1)
        }
        return Result(samples: Samples(times), perSecond: Double(times.count) * 1e9 / Double(max(last - began, 1)), counts: done)
    }

    // MARK: A member

    /// `client WORK NUMBER CLIENTS ITEMS SECONDS COUNT`: writes a byte when it is ready, waits for one, works, and writes its times and
    /// when it ended.
    static func serve(_ words: [String]) throws {
        guard words.count == 6, let work = Work(rawValue: words[0]), let number = Int(words[1]), let clients = Int(words[2]),
            let items = Int(words[3]), let seconds = Double(words[4]), let countMax = Int(words[5])
        else { throw Failure("a client's words are wrong") }
        // Connecting and Foundation's one-time initialization are not measured.
        let member = Member(number: number, clients: clients, items: items, prepares: work == .get)
        try member.once(work == .sign ? .sign : .get, 0)
        FileHandle.standardOutput.write(Data([1]))
        guard FileHandle.standardInput.readData(ofLength: 1).count == 1 else { throw Failure("the others are gone") }
        let end = Samples.now + UInt64(seconds * 1e9)
        var times: [UInt64] = []
        while times.count < countMax, Samples.now < end || work == .delete { times.append(try member.once(work, times.count)) }
        times.append(Samples.now)
        FileHandle.standardOutput.write(times.withUnsafeBytes { Data($0) })
    }

    private struct Member {
        private let number: Int
        private let part: Int
        private let items: Int
        /// The prepared gets of all items, unless there are too many.
        private let gets: [Items.Get]

        private static let getsMax = 4096

        init(number: Int, clients: Int, items: Int, prepares: Bool) {
            self.number = number
            self.items = items
            let part = max(items / clients, 1)
            self.part = part
            gets = prepares && part <= Self.getsMax ? (0..<part).map { Items.Get(number * part + $0) } : []
        }

        /// Returns the duration of the call itself, without the work around it.
        @discardableResult
        func once(_ work: Work, _ turn: Int) throws -> UInt64 {
            // Items are scattered, and each client has its own part, so that no two change the same item.
            let place = turn &* 7919 % part
            let item = number * part + place
            switch work {
            case .get: return try gets.isEmpty ? Items.timeGet(item) : gets[place].time()
            case .attributes: return try Items.timeAttributes(item)
            case .search: return try Items.timeSearch(item / Items.groupSize)
            case .update: return try Items.timeUpdate(item)
            case .add: return try Items.timeAdd(Fleet.firstAdded(number, items) + turn)
            case .delete: return try Items.timeDelete(Fleet.firstAdded(number, items) + turn)
            case .sign: return try Signing.time()
            }
        }
    }
}
