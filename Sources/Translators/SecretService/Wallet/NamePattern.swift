/// A pattern for names of entries: `*` stands for any text, `?` for one character.
struct NamePattern {
    private let pattern: [Unicode.Scalar]

    init(_ text: String) { pattern = Array(text.unicodeScalars) }

    /// Compares in time proportional to the product of both lengths.
    func matches(_ name: String) -> Bool {
        let name = Array(name.unicodeScalars)
        var place = 0
        var position = 0
        // The last star, and the first character that it does not match.
        var star: (place: Int, position: Int)?
        while position < name.count {
            if place < pattern.count, pattern[place] == "*" {
                star = (place, position)
                place += 1
            } else if place < pattern.count, pattern[place] == "?" || pattern[place] == name[position] {
                place += 1
                position += 1
            } else if let last = star {
                place = last.place + 1
                position = last.position + 1
                star = (last.place, position)
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == "*" }
    }
}
