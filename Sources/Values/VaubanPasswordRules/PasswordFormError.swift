/// Why a form has no passwords, or too few. The fault is in the rules or the length.
package enum PasswordFormError: Error, Hashable, Sendable, CustomStringConvertible {
    case contradictoryLengths(Int, Int)
    case tooLong(Int)
    case lengthOutOfRange(Int, ClosedRange<Int>)
    case tooManySets(Int, max: Int)
    case tooFew(Int)

    package var description: String {
        switch self {
        case .contradictoryLengths(let least, let most): "The rules demand at least \(least) and at most \(most) characters"
        case .tooLong(let least): "The rules demand \(least) characters; passwords of up to \(PasswordForm.countMax) can be generated"
        case .lengthOutOfRange(let length, let range) where range.lowerBound == range.upperBound:
            "The rules allow only passwords of \(range.lowerBound) characters, not of \(length)"
        case .lengthOutOfRange(let length, let range):
            "The rules allow passwords of \(range.lowerBound) to \(range.upperBound) characters, not of \(length)"
        case .tooManySets(let count, let max): "The rules require \(count) different classes; passwords can be generated for up to \(max)"
        case .tooFew(let count): "Almost no password with length \(count) meets the rules; choose another length, or drop a rule"
        }
    }
}
