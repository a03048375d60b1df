/// The arguments of the program.
struct Options {
    /// The seconds until a shown secret is hidden and until the clipboard is cleared. The latter is that of `vauban get --copy`.
    var hideAfter: UInt32 = 30
    var clearAfter: UInt32 = 45

    private static let secondsMax: UInt32 = 3600

    /// Returns nil for arguments that are not valid.
    init?(_ arguments: some Sequence<String>) {
        var words = arguments.makeIterator()
        while let word = words.next() {
            guard let number = words.next().flatMap({ UInt32($0) }), (1...Self.secondsMax).contains(number) else { return nil }
            switch word {
            case "--hide-after": hideAfter = number
            case "--clear-after": clearAfter = number
            default: return nil
            }
        }
    }
}
