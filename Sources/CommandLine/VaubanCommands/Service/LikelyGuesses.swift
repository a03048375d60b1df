import CVaubanZxcvbn
import Glibc
import VaubanSecretBytes

/// The number of guesses for an attacker who first tries what people choose: words, names, dates, rows of keys, and what is known about
/// this user (zxcvbn; Wheeler, USENIX Security 2016).
enum LikelyGuesses {
    /// Returns the binary logarithm of the number of guesses, or nil if it could not be computed.
    static func log2(for passcode: borrowing SecretBytes) -> Double? {
        let words = knownWords.map { strdup($0) }
        defer { for word in words { free(word) } }
        let list = words.map { UnsafePointer($0) } + [nil]
        let bits = passcode.withUnsafeBytes { vauban_guesses_log2($0.baseAddress, $0.count, list) }
        return bits >= 0 && bits.isFinite ? bits : nil
    }

    /// What an attacker with the machine knows about its user: login name, full name, the machine's name.
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
        // Shorter words occur in too many passcodes to matter.
        return Array(Set(words.filter { $0.utf8.count >= 3 }))
    }
}
