// fuzz: one program for every fuzzer. VAUBAN_FUZZ_TARGET in the environment names the fuzzer, since the engine starts this program again
// with its own options. A build without the engine runs each named file once, which reproduces a finding. `fuzz --seeds FOLDER` writes the
// first inputs of all fuzzers into FOLDER, in the layout of Fuzz/Corpus.

internal import CFuzzer
internal import Foundation

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.first == "--seeds", arguments.count == 2 {
    for fuzzer in Fuzzer.allCases {
        let folder = URL(fileURLWithPath: arguments[1]).appendingPathComponent(fuzzer.rawValue)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (index, seed) in try fuzzer.seeds().enumerated() { try Data(seed).write(to: folder.appendingPathComponent("seed-\(index)")) }
    }
    exit(0)
}
guard let fuzzer = Fuzzer(rawValue: ProcessInfo.processInfo.environment["VAUBAN_FUZZ_TARGET"] ?? "") else {
    let names = Fuzzer.allCases.map(\.rawValue).joined(separator: " ")
    FileHandle.standardError.write(Data("fuzz: VAUBAN_FUZZ_TARGET must be one of: \(names)\n".utf8))
    exit(64)
}
if vauban_has_fuzz_engine() {
    var argc = CommandLine.argc
    var argv: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
    exit(vauban_fuzz(&argc, &argv, fuzzer.entry))
}
for path in arguments {
    let input = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    _ = fuzzer.entry(input, input.count)
    print("\(path): nothing found")
}
