/// A status of Apple's `SecBase.h` together with its symbolic name and, for the ones that a user
/// may meet, a sentence that says what happened.
struct KnownStatus: Sendable {
    let number: OSStatus
    let name: String
    private let sentence: String?

    init(_ number: OSStatus, _ name: String, _ sentence: String? = nil) {
        self.number = number
        self.name = name
        self.sentence = sentence
    }

    /// What `SecCopyErrorMessageString` says about this status. A status without a sentence of its
    /// own gets one made from its name: `errSecCRLServerDown` becomes "CRL server down".
    var message: String {
        sentence ?? "The operation failed: \(words) (\(name))."
    }

    /// The words of the symbolic name, in lower case except for abbreviations.
    private var words: String {
        let letters = Array(name.dropFirst("errSec".count))
        var words: [String] = []
        for (index, letter) in letters.enumerated() {
            let follows = index > 0 && letters[index - 1].isUppercase
            let leads = index + 1 < letters.count && letters[index + 1].isLowercase
            if letter.isUppercase, !follows || leads || words.isEmpty {
                words.append(String(letter))
            } else {
                words[words.endIndex - 1].append(letter)
            }
        }
        return
            words
            .map { $0.count > 1 && $0 == $0.uppercased() ? $0 : $0.lowercased() }
            .joined(separator: " ")
    }
}

extension KnownStatus {
    /// Every status that the module knows, by its number.
    static let byNumber: [OSStatus: KnownStatus] = {
        let tables = [
            systemStatuses, keychainStatuses, itemStatuses, trustStatuses,
            moduleStatuses, attributeStatuses, policyStatuses,
        ]
        let pairs = tables.joined().map { ($0.number, $0) }
        return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    }()
}

/// The sentence that explains `status`, or nil when the number is not one of Apple's `errSec*`.
/// This is the table behind `SecCopyErrorMessageString(_:_:)`.
package func staticMessage(for status: OSStatus) -> String? {
    KnownStatus.byNumber[status]?.message
}

/// The symbolic name of `status`, such as `errSecItemNotFound`, for logs and command-line tools.
package func symbolicName(for status: OSStatus) -> String? {
    KnownStatus.byNumber[status]?.name
}
