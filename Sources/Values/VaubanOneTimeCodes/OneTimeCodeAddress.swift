internal import VaubanSecretBytes

/// An `otpauth://` address: a key for one-time codes and its account. The format is Google Authenticator's "Key Uri Format"; Steam's form
/// is `encoder=steam`, or the issuer Steam with five digits.
package struct OneTimeCodeAddress: ~Copyable, Sendable {
    package let issuer: String
    package let account: String
    package let key: OneTimeCodeKey

    package static let bytesMax = 4096

    /// Parses an address strictly: throws an error that names the fault, and assumes only the format's own defaults (six digits, 30
    /// seconds, SHA-1). Unknown parameters are skipped. Label and issuer may have spaces and characters beyond ASCII without an escape, as
    /// many sites write them.
    package init(_ text: UnsafeRawBufferPointer) throws(OneTimeCodeError) {
        guard text.count <= Self.bytesMax else { throw .tooLong }
        guard let rest = Self.dropping("otpauth://", from: text[...]) else { throw .notAnAddress }
        guard text.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { throw .controlCharacter }
        let slash = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
        let type = String(decoding: rest[..<slash], as: UTF8.self).lowercased()
        guard type == "totp" || type == "hotp" else { throw .unknownType(type) }
        guard slash < rest.endIndex else { throw .missing("secret") }
        let labelAndQuery = rest[(slash + 1)...]
        let mark = labelAndQuery.firstIndex(of: UInt8(ascii: "?")) ?? labelAndQuery.endIndex
        guard mark < labelAndQuery.endIndex else { throw .missing("secret") }

        let parameters = try Self.parameters(of: labelAndQuery[(mark + 1)...])
        let (prefix, name) = try Self.label(labelAndQuery[..<mark])
        let named = try parameters["issuer"].map { value throws(OneTimeCodeError) in try Self.text(value, of: "issuer") } ?? ""
        let issuer = named.isEmpty ? prefix ?? "" : named
        guard let encoded = parameters["secret"] else { throw .missing("secret") }
        guard let secret = Self.secret(encoded), !secret.isEmpty else { throw .badSecret }

        let algorithm = try Self.algorithm(parameters["algorithm"])
        let isSteam = try Self.isSteam(parameters, issuer: issuer)
        let digits = isSteam ? 5 : try Self.number(parameters["digits"], of: "digits", in: 6...8, otherwise: 6)
        let movement: OneTimeCodeKey.Movement
        if type == "totp" {
            movement = .time(
                periodSeconds: try Self.number(
                    parameters["period"], of: "period", in: 1...OneTimeCodeKey.periodSecondsMax, otherwise: OneTimeCodeKey.periodDefault))
        } else {
            guard parameters["counter"] != nil else { throw .missing("counter") }
            movement = .counter(first: UInt64(try Self.number(parameters["counter"], of: "counter", in: 0...Int64.max, otherwise: 0)))
        }
        account = name
        self.issuer = issuer
        key = OneTimeCodeKey(secret, algorithm: algorithm, movement: movement, form: isSteam ? .steam : .digits(Int(digits)))
    }

    private typealias Bytes = Slice<UnsafeRawBufferPointer>

    /// Returns the text after a prefix of ASCII letters in either case; nil if the text begins otherwise.
    private static func dropping(_ prefix: String, from text: Bytes) -> Bytes? {
        let wanted = Array(prefix.utf8)
        guard text.count >= wanted.count else { return nil }
        let isSame = zip(text, wanted).allSatisfy { (0x41...0x5A).contains($0) ? $0 + 0x20 == $1 : $0 == $1 }
        return isSame ? text.dropFirst(wanted.count) : nil
    }

    /// Returns the query's values by name, still encoded. Throws for a repeated name, which two readers could understand differently.
    private static func parameters(of query: Bytes) throws(OneTimeCodeError) -> [String: Bytes] {
        var values: [String: Bytes] = [:]
        for pair in query.split(separator: UInt8(ascii: "&")) {
            let equals = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            let name = String(decoding: pair[..<equals], as: UTF8.self).lowercased()
            let value = equals < pair.endIndex ? pair[(equals + 1)...] : pair[equals...]
            guard values.updateValue(value, forKey: name) == nil else { throw .twice(name) }
        }
        return values
    }

    /// Parses `issuer:account` or `account`; the colon may be escaped, and spaces may follow it.
    private static func label(_ encoded: Bytes) throws(OneTimeCodeError) -> (issuer: String?, account: String) {
        let text = try text(encoded, of: "label")
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        switch parts.count {
        case 1: return (nil, text)
        case 2: return (String(parts[0]), String(parts[1].drop { $0 == " " }))
        default: throw .badValue("label")
        }
    }

    /// Decodes the key. Some sites escape its padding or its spaces (`%3D`, `%20`); the decoded bytes are in zeroing memory only.
    private static func secret(_ encoded: Bytes) -> SecretBytes? {
        let bytes = UnsafeRawBufferPointer(rebasing: encoded)
        let escapes = bytes.count { $0 == UInt8(ascii: "%") }
        guard escapes > 0 else { return Base32.decode(bytes) }
        guard escapes * 3 <= bytes.count else { return nil }
        var isGood = true
        let text = SecretBytes(count: bytes.count - 2 * escapes) { text in
            var position = 0
            for place in text.indices {
                guard position < bytes.count else { isGood = false; return }
                if bytes[position] == UInt8(ascii: "%") {
                    guard let byte = Self.escaped(bytes, at: position + 1) else { isGood = false; return }
                    text[place] = byte
                    position += 3
                } else {
                    text[place] = bytes[position]
                    position += 1
                }
            }
            // A truncated escape leaves bytes over.
            isGood = isGood && position == bytes.count
        }
        return isGood ? text.withUnsafeBytes { Base32.decode($0) } : nil
    }

    /// Returns the byte of two hexadecimal digits.
    private static func escaped(_ bytes: UnsafeRawBufferPointer, at position: Int) -> UInt8? {
        func value(_ digit: UInt8) -> UInt8? {
            switch digit {
            case 0x30...0x39: digit - 0x30
            case 0x41...0x46: digit - 0x41 + 10
            case 0x61...0x66: digit - 0x61 + 10
            default: nil
            }
        }
        guard position + 1 < bytes.count, let high = value(bytes[position]), let low = value(bytes[position + 1]) else { return nil }
        return high << 4 | low
    }

    /// Decodes a value's percent escapes (RFC 3986, section 2.1). Never used for the secret, of which no copy may stay in memory.
    private static func text(_ encoded: Bytes, of name: String) throws(OneTimeCodeError) -> String {
        var bytes: [UInt8] = []
        var position = encoded.startIndex
        while position < encoded.endIndex {
            guard encoded[position] == UInt8(ascii: "%") else {
                bytes.append(encoded[position] == UInt8(ascii: "+") && name == "issuer" ? 0x20 : encoded[position])
                position += 1
                continue
            }
            guard position + 2 < encoded.endIndex,
                let byte = UInt8(String(decoding: encoded[position + 1...position + 2], as: UTF8.self), radix: 16)
            else { throw .badValue(name) }
            bytes.append(byte)
            position += 3
        }
        guard let text = String(validating: bytes, as: UTF8.self),
            !text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
        else { throw .badValue(name) }
        return text
    }

    private static func algorithm(_ value: Bytes?) throws(OneTimeCodeError) -> OneTimeCodeKey.Algorithm {
        guard let value else { return .sha1 }
        let name = String(decoding: value, as: UTF8.self).uppercased()
        // Some sites write the algorithm's name with a hyphen, as the standard does.
        guard let algorithm = OneTimeCodeKey.Algorithm(rawValue: name.replacing("SHA-", with: "SHA")) else {
            throw .badValue("algorithm")
        }
        return algorithm
    }

    private static func isSteam(_ parameters: [String: Bytes], issuer: String) throws(OneTimeCodeError) -> Bool {
        if let encoder = parameters["encoder"] {
            guard String(decoding: encoder, as: UTF8.self).lowercased() == "steam" else { throw .badValue("encoder") }
            return true
        }
        return issuer == "Steam" && parameters["digits"].map { $0.elementsEqual("5".utf8) } ?? false
    }

    private static func number(
        _ value: Bytes?, of name: String, in range: ClosedRange<Int64>, otherwise standard: Int64
    ) throws(OneTimeCodeError) -> Int64 {
        guard let value else { return standard }
        // `Int64` would also accept a sign, which no number in an address has.
        guard !value.isEmpty, value.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int64(String(decoding: value, as: UTF8.self)), range.contains(number)
        else { throw .badValue(name) }
        return number
    }
}
