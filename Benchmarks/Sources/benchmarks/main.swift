// benchmarks [--items N] [--rounds N] [--gets N] [--adds N] [--seconds N]: measures the service that VAUBAN_HOME names, which must be
// unlocked. Benchmarks/run creates one, measures, and removes it. `benchmarks loop N` does N gets and nothing else, for a profiler.
// `benchmarks prepare ITEMS` adds items and creates a signing key; `benchmarks fill FROM TO` adds items; `benchmarks scale ITEMS SECONDS`
// measures a keychain that has them. `benchmarks transport` measures App Transport Security, without a keychain. `benchmarks guard` adds an
// item that requires the user; `benchmarks read N` and `benchmarks ask N` prompt for it. `benchmarks sign CLIENTS SECONDS` signs with a
// key of the enclave. `benchmarks synced write` and `read` change and await the value of one synchronizable item.
import Foundation
import Glibc

if CommandLine.arguments.dropFirst().first == Floor.echoArgument { Floor.echo() }
if CommandLine.arguments.dropFirst().first == TransportDecision.argument { TransportDecision.run() }

func end(_ text: String, _ code: Int32) -> Never {
    FileHandle.standardError.write(Data("benchmarks: \(text)\n".utf8))
    exit(code)
}

// The measurement must never use the user's own keychain.
guard let home = ProcessInfo.processInfo.environment["VAUBAN_HOME"], home.hasPrefix("/") else {
    end("VAUBAN_HOME must name a keychain made for this, by its full path; Benchmarks/run does all of it", 64)
}

do {
    let words = Array(CommandLine.arguments.dropFirst(2))
    switch CommandLine.arguments.dropFirst().first {
    case Fleet.argument: try Fleet.serve(words)
    case Filling.partArgument: try Filling.part(words)
    case Filling.argument:
        guard words.count == 2, let from = Int(words[0]), let to = Int(words[1]) else { end("fill takes two numbers", 64) }
        try Filling.run(from: from, to: to, clients: 4)
    case Synced.argument: try Synced.run(words)
    case "prepare":
        guard words.count == 1, let items = Int(words[0]) else { end("prepare takes a number", 64) }
        for index in 0..<items { try Items.add(index) }
        try Signing.makeKey()
    case "sign":
        guard words.count == 2, let clients = Int(words[0]), let seconds = Double(words[1]) else { end("sign takes two numbers", 64) }
        try Signing.run(clients: clients, seconds: seconds)
    case Scale.firstArgument: print(try Items.timeRefusal(), terminator: "")
    case "scale":
        guard words.count == 2, let items = Int(words[0]), let seconds = Double(words[1]),
            let vauban = ProcessInfo.processInfo.environment["VAUBAN_PROGRAM"]
        else { end("scale takes two numbers, and VAUBAN_PROGRAM names the command line", 64) }
        try Scale(items: items, seconds: seconds, home: home, vauban: vauban).run()
    case "guard": try BenchmarkUser.guardItem()
    case "read", "ask":
        guard words.count == 1, let count = Int(words[0]) else { end("it takes a number", 64) }
        try CommandLine.arguments[1] == "read" ? BenchmarkUser.read(count) : BenchmarkUser.ask(count)
    default: try Plan(CommandLine.arguments.dropFirst(), home: home).run()
    }
} catch {
    end("\(error)", 1)
}
