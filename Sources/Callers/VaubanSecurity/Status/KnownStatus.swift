/// A status of Apple's `SecBase.h` with its symbolic name and, for those that a user may see, a message.
struct KnownStatus: Sendable {
    let number: OSStatus
    let name: String
    private let sentence: String?

    init(_ number: OSStatus, _ name: String, _ sentence: String? = nil) {
        self.number = number
        self.name = name
        self.sentence = sentence
    }

    /// The message of `SecCopyErrorMessageString` for this status. Without a specific message it is derived from the name:
    /// `errSecCRLServerDown` becomes "CRL server down".
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
    /// Every known status by its number.
    static let byNumber: [OSStatus: KnownStatus] = {
        let tables = [
            systemStatuses, keychainStatuses, itemStatuses, trustStatuses,
            moduleStatuses, attributeStatuses, policyStatuses,
        ]
        let pairs = tables.joined().map { ($0.number, $0) }
        return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    }()
}

/// Returns the message for a status; nil unless it is one of Apple's `errSec*`. This is the table behind `SecCopyErrorMessageString(_:_:)`.
package func staticMessage(for status: OSStatus) -> String? {
    KnownStatus.byNumber[status]?.message
}

/// Returns the symbolic name of a status, such as `errSecItemNotFound`, for logs and command-line tools.
package func symbolicName(for status: OSStatus) -> String? {
    KnownStatus.byNumber[status]?.name
}
