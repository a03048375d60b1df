import Foundation

/// A reference to an item in a text: `vauban://service/account` means what `service/account` does on the command line. A space or a percent
/// sign in a name may be percent-encoded as in a URL.
package enum ItemReference {
    package static let scheme = "vauban://"

    /// Returns the name in a reference, or nil if the text is not one.
    package static func name(in text: String) throws(ParsingError) -> String? {
        guard text.hasPrefix(scheme) else { return nil }
        guard let name = String(text.dropFirst(scheme.count)).removingPercentEncoding else {
            throw ParsingError("a percent sign needs two hexadecimal digits after it; for the sign itself, write %25")
        }
        guard !name.isEmpty else { throw ParsingError("the item is missing; write \(scheme)service/account") }
        return name
    }
}
