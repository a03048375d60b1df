import CVaubanZxcvbn
import Glibc
import VaubanSecretBytes

/// How many guesses it takes somebody who tries first what people choose: words, names, dates, rows of keys, and what they know of this
/// user (zxcvbn; Wheeler, USENIX Security 2016).
enum LikelyGuesses {
    /// The binary logarithm; nil where it could not be reckoned.
    static func log2(for passcode: borrowing SecretBytes) -> Double? {
        let words = knownWords.map { strdup($0) }
        defer { for word in words { free(word) } }
        let list = words.map { UnsafePointer($0) } + [nil]
        let bits = passcode.withUnsafeBytes { vauban_guesses_log2($0.baseAddress, $0.count, list) }
        return bits >= 0 && bits.isFinite ? bits : nil
    }

    /// What whoever has the machine knows of its user: login, full name, the machine's own name.
    private static var knownWords: [String] {
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
        // A shorter word is in half of all passcodes, and says nothing.
        return Array(Set(words.filter { $0.utf8.count >= 3 }))
    }
}
