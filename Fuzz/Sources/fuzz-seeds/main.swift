// Writes the inputs that the harness knows of itself into the corpora, one file each, named by its place.

import Foundation
import FuzzHarness

let folder = URL(fileURLWithPath: CommandLine.arguments.dropFirst().first ?? "Corpus")
for (name, seeds) in [("wire", try WireFuzzing.seeds()), ("state", try StateFuzzing.seeds())] {
    for (index, seed) in seeds.enumerated() {
        try Data(seed).write(to: folder.appendingPathComponent("\(name)/seed-\(index)"))
    }
}
