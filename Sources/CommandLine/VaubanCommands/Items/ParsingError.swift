/// Why a text cannot be parsed: a URL, a line of a file of variables, an edited item, an installation's manifest. The caller names the text
/// in its error.
package struct ParsingError: Error {
    /// The rest of a sentence about the text. It quotes no secret.
    package let why: String

    init(_ why: String) { self.why = why }

    /// The same as a separate sentence.
    package var sentence: String { why.prefix(1).uppercased() + why.dropFirst() }
}
