import VaubanLinuxHost

/// The arguments of a room for tests: its additional options may be anywhere among the arguments of the shipped program.
struct RoomArguments: Sendable {
    private(set) var words: [String]

    init(_ words: [String]) { self.words = words }

    /// Removes an option and returns its value; what remains are the shipped program's arguments.
    mutating func take(_ name: String) -> String? {
        guard let index = words.firstIndex(of: name) else { return nil }
        guard index + 1 < words.count else { fail("\(name) needs a value") }
        defer { words.removeSubrange(index...(index + 1)) }
        return words[index + 1]
    }

    /// Takes `--without FEATURE,…`: the protections to omit, as on a machine that lacks them.
    mutating func takeMissingFeatures() -> Set<HardeningFeature> {
        let names = take("--without")?.split(separator: ",") ?? []
        return Set(
            names.map { name in
                guard let feature = HardeningFeature(rawValue: String(name)) else { fail("\(name) is not a protection") }
                return feature
            })
    }
}
