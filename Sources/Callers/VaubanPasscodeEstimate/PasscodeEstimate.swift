// The texts about a new passcode where it is typed; the same in a terminal and in a window.

internal import CVaubanZxcvbn
internal import Glibc
internal import VaubanPasscode
package import VaubanSecretBytes

package enum PasscodeEstimate {
    package static let rules = "A passcode needs at least six characters; a longer one protects a stolen disk better."
    package static let differ = "The entries differ. Try again."

    /// Returns a message for a passcode that is too weak; nil otherwise. The enclave decides; checking here spares the user its refusal.
    package static func weakness(of passcode: borrowing SecretBytes) -> String? {
        PasscodePolicy.software.refusal(of: passcode).map { weak($0) }
    }

    /// Returns the message for a passcode that was refused as too weak.
    package static func weak(_ why: String?) -> String { "Too weak\(why.map { ": \($0)" } ?? ""). \(rules)" }

    /// Returns a sentence about the cost of guessing a passcode. Others may read it on the screen, and no log may contain it.
    package static func sentence(on passcode: borrowing SecretBytes) -> String {
        let likely = likelyGuessesLog2(of: passcode)
        let sentence = PasscodePolicy.software.estimate(of: PasscodeStrength(of: passcode), likelyGuessesLog2: likely)
        return "\(sentence.prefix(1).uppercased())\(sentence.dropFirst())."
    }

    /// Returns the binary logarithm of the number of guesses for an attacker who first tries what people choose: words, names, dates, rows
    /// of keys, and what is known about this user (zxcvbn; Wheeler, USENIX Security 2016). Returns nil if it could not be computed.
    private static func likelyGuessesLog2(of passcode: borrowing SecretBytes) -> Double? {
        let words = knownWords.map { strdup($0) }
        defer { for word in words { free(word) } }
        let list = words.map { UnsafePointer($0) } + [nil]
        let bits = passcode.withUnsafeBytes { vauban_guesses_log2($0.baseAddress, $0.count, list) }
        return bits >= 0 && bits.isFinite ? bits : nil
    }

    /// The words that an attacker with access to the machine can learn about its user: login name, full name, the machine's name. Computed
    /// once, since a name service may take long to answer.
    private static let knownWords: [String] = {
        var texts = ["vauban"]
        if let entry = getpwuid(geteuid())?.pointee {
            texts.append(String(cString: entry.pw_name))
            if let gecos = entry.pw_gecos { texts.append(String(cString: gecos)) }
        }
        var name = [CChar](repeating: 0, count: 256)
        if gethostname(&name, name.count - 1) == 0 {
            texts.append(name.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" })
        }
        let words = texts.flatMap { $0.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init) }
        // Shorter words occur in too many passcodes to matter.
        return Array(Set(words.filter { $0.utf8.count >= 3 }))
    }()
}
