/// Internationalized labels as hosts have them: `xn--` and the label in Punycode (RFC 3492).
enum Punycode {
    private static let (base, least, most, skew, damp) = (36, 1, 26, 38, 700)
    private static let (firstBias, firstCode) = (72, 0x80)

    /// Returns a label in ASCII. The label is in the form that IDNA demands, lower case and composed, as the public-suffix list has them.
    static func label(_ label: Substring) -> String {
        let codes = label.unicodeScalars.map { Int($0.value) }
        let plain = codes.filter { $0 < firstCode }
        guard plain.count < codes.count else { return String(label) }
        var text = plain.map { UInt8($0) }
        if !plain.isEmpty { text.append(UInt8(ascii: "-")) }
        // Each pass writes where the next larger code occurs, as the number of states of the decoder until there.
        var (code, delta, bias, count) = (firstCode, 0, firstBias, plain.count)
        while count < codes.count {
            guard let next = codes.lazy.filter({ $0 >= code }).min() else { break }
            delta += (next - code) * (count + 1)
            code = next
            for other in codes {
                if other < code { delta += 1 }
                guard other == code else { continue }
                append(delta, to: &text, bias)
                bias = adapted(delta, isFirst: count == plain.count, count + 1)
                delta = 0
                count += 1
            }
            delta += 1
            code += 1
        }
        return "xn--" + String(decoding: text, as: UTF8.self)
    }

    /// Appends a number in digits of growing weight; the last one is below its threshold.
    private static func append(_ number: Int, to text: inout [UInt8], _ bias: Int) {
        var rest = number
        var place = base
        while true {
            let threshold = min(max(place - bias, least), most)
            guard rest >= threshold else { break }
            text.append(digit(threshold + (rest - threshold) % (base - threshold)))
            rest = (rest - threshold) / (base - threshold)
            place += base
        }
        text.append(digit(rest))
    }

    private static func digit(_ number: Int) -> UInt8 {
        UInt8(number < most ? Int(UInt8(ascii: "a")) + number : Int(UInt8(ascii: "0")) + number - most)
    }

    private static func adapted(_ delta: Int, isFirst: Bool, _ count: Int) -> Int {
        var rest = isFirst ? delta / damp : delta / 2
        rest += rest / count
        var place = 0
        while rest > (base - least) * most / 2 {
            rest /= base - least
            place += base
        }
        return place + (base - least + 1) * rest / (rest + skew)
    }
}
