/// Why a text is not a key for one-time codes. The fault is in the given text. No case contains any part of a secret.
package enum OneTimeCodeError: Error, Hashable, Sendable, CustomStringConvertible {
    case notAnAddress
    case controlCharacter
    case tooLong
    case unknownType(String)
    case missing(String)
    case twice(String)
    case badValue(String)
    case badSecret

    /// The description as a separate sentence.
    package var sentence: String { description.prefix(1).uppercased() + description.dropFirst() }

    package var description: String {
        switch self {
        case .notAnAddress: "this is neither an otpauth:// address nor a key in base32 (letters A to Z and digits 2 to 7)"
        case .controlCharacter: "the address has a control character, such as a line end"
        case .tooLong: "an otpauth:// address has at most \(OneTimeCodeAddress.bytesMax) bytes"
        case .unknownType: "the address is of neither type: otpauth://totp/ or otpauth://hotp/"
        case .missing(let name): "the address has no \(name)"
        case .twice(let name): "the address has “\(name)” twice"
        case .badValue("label"): "the address's label is not issuer:account"
        case .badValue("digits"): "the address asks for a number of digits other than 6, 7 or 8"
        case .badValue("period"): "the address's period is not a number of seconds from 1 to \(OneTimeCodeKey.periodSecondsMax)"
        case .badValue("algorithm"): "the address's algorithm is not SHA1, SHA256 or SHA512"
        case .badValue(let name): "the address's \(name) cannot be read"
        case .badSecret: "the address's secret is not base32: letters A to Z and digits 2 to 7"
        }
    }
}
