extension FixedWidthInteger {
    /// Parses decimal digits alone; nil for anything else, such as a sign, which `init(_:)` accepts, or a number that does not fit.
    init?(digits text: some StringProtocol) {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        self.init(text)
    }
}
