package import VaubanRefusal

/// Puts the item's name into refusals about its earlier secrets, where the keychain says only "The item".
package struct EarlierSecrets {
    private let name: String

    /// - Parameter name: The item's name for display.
    package init(of name: String) { self.name = name }

    /// Runs work, and names the item in a refusal that says how many earlier secrets it has.
    func naming<Result>(_ work: () throws -> Result) throws -> Result {
        do { return try work() } catch let refusal as Refusal { throw named(refusal) }
    }

    /// Returns the refusal with the item's name and the remedy, or the same refusal if it is about something else.
    package func named(_ refusal: Refusal) -> Refusal {
        guard let number = refusal.earlierValues else { return refusal }
        let has = number == 0 ? "no earlier secret" : count(number, "earlier secret")
        return Refusal(refusal.reason, "\(name) has \(has); to list its history: vauban history \(SafeText.word(name))")
    }
}
