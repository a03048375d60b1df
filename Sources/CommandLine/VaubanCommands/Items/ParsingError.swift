/// Why a text cannot be parsed: a URL, a line of a file of variables, an edited item, an installation's manifest. Whoever wrote the text
/// is to blame; the caller knows who that is, and names the text.
package struct ParsingError: Error {
    /// The rest of a sentence about the text. It quotes no secret.
    package let why: String

    init(_ why: String) { self.why = why }

    /// The same as a sentence of its own.
    package var sentence: String { why.prefix(1).uppercased() + why.dropFirst() }
}
