// benchmarks [--items N] [--rounds N] [--gets N] [--adds N]: measures the service that VAUBAN_HOME names, which must be unlocked.
// Benchmarks/run makes one, measures, and removes it. `benchmarks loop N` does N gets and nothing else, for a profiler to watch.
import Foundation
import Glibc

if CommandLine.arguments.dropFirst().first == Floor.echoArgument { Floor.echo() }

func end(_ text: String, _ code: Int32) -> Never {
    FileHandle.standardError.write(Data("benchmarks: \(text)\n".utf8))
    exit(code)
}

// Never the person's own keychain.
guard let home = ProcessInfo.processInfo.environment["VAUBAN_HOME"], home.hasPrefix("/") else {
    end("VAUBAN_HOME must name a keychain made for this, by its full path; Benchmarks/run does all of it", 64)
}

var plan = Plan()
plan.home = home
var words = CommandLine.arguments.dropFirst()
var loops: Int?
while let word = words.popFirst() {
    guard let number = words.popFirst().flatMap({ Int($0) }), number > 0 else { end("\(word) takes a number", 64) }
    switch word {
    case "loop": loops = number
    case "--items": plan.items = number
    case "--rounds": plan.rounds = number
    case "--gets": plan.gets = number
    case "--adds": plan.adds = number
    case "--floor": plan.floorTrips = number
    default: end("unknown word \(word)", 64)
    }
}

do {
    for index in 0..<plan.items { try Items.addIfMissing(index) }
    if let loops {
        _ = try Question.value(plan.items).measure((0..<loops).lazy.map { $0 &* 7919 % plan.items })
        exit(0)
    }
    let cast = Cast(home: home)
    let path = "\(home)/bare.db"
    for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
    let database = try BareDatabase(path: path)
    defer { database.close() }
    for _ in 0..<plan.items { try database.add() }
    var rounds: [Round] = []
    for number in 1...plan.rounds {
        FileHandle.standardError.write(Data("round \(number) of \(plan.rounds)\n".utf8))
        rounds.append(try Round(plan, cast, database))
    }
    Report.print(rounds, plan)
} catch {
    end("\(error)", 1)
}
