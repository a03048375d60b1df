/// What becomes of a finger while a question waits for one. The numbers stand in messages (Specs/reader.md).
package enum FingerHint: Int64, Hashable, Sendable, CaseIterable {
    /// The touch could not be read; touch again.
    case again = 1
    /// The swipe was too short.
    case tooShort = 2
    case notCentred = 3
    /// Take the finger away before the next touch.
    case liftAndTouch = 4
    case tooFast = 5
    /// The sensor had an error, and goes on looking.
    case sensorFault = 6
    /// Another program uses the reader; it goes on when that is done.
    case busy = 7
    /// One more touch of a finger that is being learnt.
    case progress = 8
    /// The finger to be learnt is known already.
    case known = 9
    /// The reader has no room for another finger.
    case full = 10

    /// Whether it is about a finger that is being learnt, and no question's.
    package var isAboutLearning: Bool { rawValue >= Self.progress.rawValue }

    /// The same while a finger is learnt, of whose touches so many are done.
    package func sentence(done: Int64, total: Int64) -> String {
        guard total > 0 else { return sentence }
        guard self == .progress else { return "\(sentence) (\(done) of \(total) touches are done)" }
        return done == 0 ? "touch it \(total) times with the same finger" : "\(done) of \(total) touches are done"
    }

    /// What the user is to do, for a line of text.
    package var sentence: String {
        switch self {
        case .again: "that touch could not be read; touch again"
        case .tooShort: "that was too short; swipe again"
        case .notCentred: "put the middle of the finger on the sensor"
        case .liftAndTouch: "take the finger away, then touch again"
        case .tooFast: "that was too fast; swipe again"
        case .sensorFault: "the sensor had an error; touch again"
        case .busy: "another program uses it; this goes on by itself when that is done"
        case .progress: "touch it again with the same finger"
        case .known: "this finger is known already; take another one"
        case .full: "it has no room for another finger"
        }
    }
}
