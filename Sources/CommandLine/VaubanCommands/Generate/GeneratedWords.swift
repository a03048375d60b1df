import Foundation
package import VaubanLinuxHost
package import VaubanSecretBytes

/// A passphrase of words from the list, separated by periods because some of the words contain a hyphen.
package enum GeneratedWords {
    package static func make(_ count: Int) throws(SystemError) -> SecretBytes {
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

    /// Returns the entropy in bits: the binary logarithm of the number of equally likely passphrases.
    package static func bits(_ count: Int) -> Double { Double(count) * log2(Double(WordList.words.count)) }
}
