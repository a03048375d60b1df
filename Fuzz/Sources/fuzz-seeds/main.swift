// Writes the inputs that the harness knows of itself into the corpora, one file each, named by its place.

import Foundation
import FuzzHarness
import KeychainFuzzing

let folder = URL(fileURLWithPath: CommandLine.arguments.dropFirst().first ?? "Corpus")
let targets = [
    ("wire", try WireFuzzing.seeds()), ("state", try StateFuzzing.seeds()), ("keychain", try KeychainDoorFuzzing.seeds()),
    ("row", try RowFuzzing.seeds()),
]
for (name, seeds) in targets {
    for (index, seed) in seeds.enumerated() {
        try Data(seed).write(to: folder.appendingPathComponent("\(name)/seed-\(index)"))
    }
}
