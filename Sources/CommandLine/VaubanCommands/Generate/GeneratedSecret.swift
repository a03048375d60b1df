import Foundation
package import VaubanLinuxHost
package import VaubanSecretBytes

/// A secret that nobody thought of: every one of its form is equally likely.
package enum GeneratedSecret {
    /// Characters of these classes, at least one of each. Where one is missing all are drawn again, so that no place is likelier than
    /// another to have it.
    package static func characters(_ count: Int, of classes: [CharacterClass]) throws(SystemError) -> SecretBytes {
        let signs = classes.flatMap(\.signs)
        var numbers = try UnbiasedNumbers()
        while true {
            var secret = SecretBytes(count: count) { _ in }
            for position in 0..<count {
                let sign = signs[try numbers.next(below: signs.count)]
                secret.withUnsafeMutableBytes { $0[position] = sign }
            }
            let hasAll = secret.withUnsafeBytes { bytes in classes.allSatisfy { one in bytes.contains { one.signs.contains($0) } } }
            if hasAll { return secret }
        }
    }

    /// Words of the list, parted by full stops, since some of the words have a hyphen.
    package static func words(_ count: Int) throws(SystemError) -> SecretBytes {
        let list = WordList.words
        var numbers = try UnbiasedNumbers()
        var secret = SecretBytes(count: count * (WordList.bytesMax + 1)) { _ in }
        var end = 0
        for number in 0..<count {
            let word = list[try numbers.next(below: list.count)]
            if number > 0 {
                let dot = end
                secret.withUnsafeMutableBytes { $0[dot] = UInt8(ascii: ".") }
                end += 1
            }
            for byte in word.utf8 {
                let position = end
                secret.withUnsafeMutableBytes { $0[position] = byte }
                end += 1
            }
        }
        return secret.part(0..<end)
    }

    /// The binary logarithm of how many secrets of this form there are, all of which are equally likely.
    package static func bits(characters count: Int, of classes: [CharacterClass]) -> Double {
        let all = Double(classes.reduce(0) { $0 + $1.signs.count })
        // Of all strings, those that lack no class, by inclusion and exclusion over the classes that are left out.
        var share = 0.0
        for left in 0..<(1 << classes.count) {
            let without = classes.indices.filter { left & 1 << $0 != 0 }
            let signs = all - Double(without.reduce(0) { $0 + classes[$1].signs.count })
            share += (without.count.isMultiple(of: 2) ? 1 : -1) * pow(signs / all, Double(count))
        }
        return Double(count) * log2(all) + log2(share)
    }

    package static func bits(words count: Int) -> Double { Double(count) * log2(Double(WordList.words.count)) }
}
