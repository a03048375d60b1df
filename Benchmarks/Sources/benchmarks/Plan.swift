import Foundation
import Glibc

/// What to measure, and in which folder.
struct Plan {
    var items = 1000
    var rounds = 5
    var floorTrips = 50_000
    var gets = 4000
    var adds = 200
    /// The duration of each measurement with several clients, in seconds.
    var seconds = 1.0
    /// The number of reads, if nothing else is to be measured.
    private var loops: Int?
    /// The folder of the bare database: beside the keychain, on the same file system.
    let home: String

    init(_ words: ArraySlice<String>, home: String) throws {
        self.home = home
        var words = words
        while let word = words.popFirst() {
            guard let number = words.popFirst().flatMap({ Int($0) }), number > 0 else { throw Failure("\(word) takes a number") }
            switch word {
            case "loop": loops = number
            case "--items": items = number
            case "--rounds": rounds = number
            case "--gets": gets = number
            case "--adds": adds = number
            case "--floor": floorTrips = number
            case "--seconds": seconds = Double(number)
            default: throw Failure("unknown word \(word)")
            }
        }
    }

    func run() throws {
        for index in 0..<items { try Items.addIfMissing(index) }
        if let loops {
            _ = try TimedQuery.value(items).measure((0..<loops).lazy.map { $0 &* 7919 % items })
            return
        }
        let cast = Cast(home: home)
        let path = "\(home)/bare.db"
        for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
        let database = try BareDatabase(path: path)
        defer { database.close() }
        for _ in 0..<items { try database.add() }
        let program = try ProcessInfo.processInfo.environment["VAUBAN_BENCH_FLOOR"].map {
            try FloorProgram(path: $0, folder: home, items: items)
        }
        defer { program?.end() }
        var rounds: [Round] = []
        var floorGets: [Double] = []
        for number in 1...self.rounds {
            FileHandle.standardError.write(Data("round \(number) of \(self.rounds)\n".utf8))
            rounds.append(try Round(plan: self, cast: cast, database: database))
            if let program { floorGets.append(try program.median(.get, gets)) }
        }
        Report.print(rounds, self)
        if let program { try Comparison(plan: self, program: program, gets: floorGets).show(rounds) }
    }
}
