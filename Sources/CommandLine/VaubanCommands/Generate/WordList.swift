/// Words that are easy to type and to remember, for passphrases: one for each throw of five dice.
package enum WordList {
    package static let bytesMax = 9

    package static let words: [Substring] = String(describing: text).split { $0 == " " || $0 == "\n" }
}
