// Converts maps between Qt's encoding of QMap<QString, QString>, which KWallet's clients send, and JSON, which an item contains. A QString
// is a sequence of 16-bit units. The JSON preserves each unit and the order of the entries, so a client reads exactly what was written.

package import VaubanSecretBytes

package enum WalletMap {
    private static let nullLength = UInt32.max

    /// Returns a JSON object with the entries of Qt's encoding; nil if that is malformed.
    package static func json(of stream: borrowing SecretBytes) -> SecretBytes? {
        converted(stream) { input, output in
            // The encoding of an empty map that was never written.
            if input.isAtEnd {
                output.put("{}")
                return true
            }
            guard let count = input.number() else { return false }
            output.put("{")
            for index in 0..<count {
                if index > 0 { output.put(",") }
                guard putString(&input, &output, nullAllowed: false) else { return false }
                output.put(":")
                guard putString(&input, &output, nullAllowed: true) else { return false }
            }
            output.put("}")
            return input.isAtEnd
        }
    }

    /// Returns Qt's encoding of a JSON object with texts and nulls; nil if it is another document.
    package static func stream(of json: borrowing SecretBytes) -> SecretBytes? {
        guard json.withUnsafeBytes(UTF8Text.isValid) else { return nil }
        return converted(json) { input, output in
            var counting = input
            var nothing = ByteOutput()
            guard let count = putObject(&counting, &nothing) else { return false }
            output.put(number: count)
            return putObject(&input, &output) != nil && input.isAtEnd
        }
    }

    /// Runs a conversion twice: first to measure its result, then into memory of exactly this size.
    private static func converted(
        _ bytes: borrowing SecretBytes, _ convert: (inout ByteInput, inout ByteOutput) -> Bool
    ) -> SecretBytes? {
        bytes.withUnsafeBytes { bytes -> SecretBytes? in
            var input = ByteInput(bytes: bytes)
            var output = ByteOutput()
            guard convert(&input, &output) else { return nil }
            return SecretBytes(count: output.count) { target in
                var input = ByteInput(bytes: bytes)
                var output = ByteOutput(target: target)
                _ = convert(&input, &output)
            }
        }
    }

    // MARK: Qt to JSON

    private static func putString(_ input: inout ByteInput, _ output: inout ByteOutput, nullAllowed: Bool) -> Bool {
        guard let length = input.number() else { return false }
        if length == nullLength {
            output.put(nullAllowed ? "null" : "\"\"")
            return true
        }
        guard length % 2 == 0, length <= input.left else { return false }
        output.put("\"")
        var left = length / 2
        while left > 0, let unit = input.unit() {
            left -= 1
            var next = input
            if left > 0, UTF16.isLeadSurrogate(unit), let trail = next.unit(), UTF16.isTrailSurrogate(trail) {
                output.put(scalar: 0x10000 + (UInt32(unit) - 0xD800) << 10 + (UInt32(trail) - 0xDC00))
                input = next
                left -= 1
            } else {
                putCharacter(unit, &output)
            }
        }
        output.put("\"")
        return true
    }

    private static func putCharacter(_ unit: UInt16, _ output: inout ByteOutput) {
        switch unit {
        case 0x22, 0x5C:
            output.put("\\")
            output.put(UInt8(unit))
        case 0..<0x20, 0x7F, 0xD800..<0xE000:
            output.put("\\u")
            for shift in [12, 8, 4, 0] as [UInt16] {
                let digit = UInt8(unit >> shift & 15)
                output.put(digit < 10 ? 0x30 + digit : 0x57 + digit)
            }
        default: output.put(scalar: UInt32(unit))
        }
    }

    // MARK: JSON to Qt

    /// Writes the entries, and returns their number.
    private static func putObject(_ input: inout ByteInput, _ output: inout ByteOutput) -> UInt32? {
        var count: UInt32 = 0
        guard input.takes("{") else { return nil }
        if input.takes("}") { return input.isAtEndAfterSpace ? 0 : nil }
        repeat {
            guard putString(&input, &output), input.takes(":") else { return nil }
            if input.takesNull() { output.put(number: nullLength) } else if !putString(&input, &output) { return nil }
            count += 1
        } while input.takes(",")
        return input.takes("}") && input.isAtEndAfterSpace ? count : nil
    }

    private static func putString(_ input: inout ByteInput, _ output: inout ByteOutput) -> Bool {
        guard input.takes("\"") else { return false }
        var measuring = input
        var measured = ByteOutput()
        guard putUnits(&measuring, &measured) else { return false }
        output.put(number: UInt32(clamping: measured.count))
        return putUnits(&input, &output)
    }

    private static func putUnits(_ input: inout ByteInput, _ output: inout ByteOutput) -> Bool {
        while let byte = input.byte() {
            switch byte {
            case 0x22: return true
            case 0x5C:
                guard let unit = escaped(&input) else { return false }
                output.put(unit: unit)
            case 0..<0x20: return false
            default: putScalar(byte, from: &input, to: &output)
            }
        }
        return false
    }

    private static func escaped(_ input: inout ByteInput) -> UInt16? {
        guard let byte = input.byte() else { return nil }
        switch byte {
        case 0x22, 0x5C, 0x2F: return UInt16(byte)
        case UInt8(ascii: "b"): return 8
        case UInt8(ascii: "f"): return 12
        case UInt8(ascii: "n"): return 10
        case UInt8(ascii: "r"): return 13
        case UInt8(ascii: "t"): return 9
        case UInt8(ascii: "u"):
            var unit: UInt16 = 0
            for _ in 0..<4 {
                guard let digit = input.byte().flatMap({ Character(Unicode.Scalar($0)).hexDigitValue }) else { return nil }
                unit = unit << 4 | UInt16(digit)
            }
            return unit
        default: return nil
        }
    }

    /// Writes a character whose UTF-8 has been validated.
    private static func putScalar(_ first: UInt8, from input: inout ByteInput, to output: inout ByteOutput) {
        let more = first < 0x80 ? 0 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3
        var scalar = UInt32(more == 0 ? first : first & (0x3F >> UInt8(more)))
        for _ in 0..<more { scalar = scalar << 6 | UInt32((input.byte() ?? 0) & 0x3F) }
        guard scalar >= 0x10000 else { return output.put(unit: UInt16(truncatingIfNeeded: scalar)) }
        output.put(unit: UInt16(truncatingIfNeeded: 0xD800 + (scalar - 0x10000) >> 10))
        output.put(unit: UInt16(truncatingIfNeeded: 0xDC00 + (scalar - 0x10000) & 0x3FF))
    }
}
