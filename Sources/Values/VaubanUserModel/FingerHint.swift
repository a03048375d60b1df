/// A hint about a finger while a prompt waits for one. The numbers are part of the wires (Specs/reader.md).
package enum FingerHint: Int64, Hashable, Sendable, CaseIterable {
    /// The touch could not be read; touch again.
    case again = 1
    /// The swipe was too short.
    case tooShort = 2
    case notCentered = 3
    /// Lift the finger before the next touch.
    case liftAndTouch = 4
    case tooFast = 5
    /// The sensor failed once and continues.
    case sensorError = 6
    /// Another program or user has the reader. The request continues when that is done.
    case busy = 7
    /// One more touch of a finger that is being enrolled.
    case progress = 8
    /// The finger to be enrolled is enrolled already.
    case known = 9
    /// The reader cannot store another finger.
    case full = 10

    /// Whether the hint is about an enrollment, not a prompt.
    package var isAboutEnrollment: Bool { rawValue >= Self.progress.rawValue }

    /// Returns the sentence during an enrollment, with `done` of `total` touches.
    package func sentence(done: Int64, total: Int64) -> String {
        guard total > 0 else { return sentence }
        guard self == .progress else { return "\(sentence) (\(done) of \(total) touches are done)" }
        return done == 0 ? "touch it \(total) times with the same finger" : "\(done) of \(total) touches are done"
    }

    /// What the user should do, as a sentence for one line.
    package var sentence: String {
        switch self {
        case .again: "that touch could not be read; touch again"
        case .tooShort: "that was too short; swipe again"
        case .notCentered: "put the middle of the finger on the sensor"
        case .liftAndTouch: "take the finger away, then touch again"
        case .tooFast: "that was too fast; swipe again"
        case .sensorError: "the sensor had an error; touch again"
        case .busy: "another program or user has it; this continues when that is done"
        case .progress: "touch it again with the same finger"
        case .known: "this finger is enrolled already; use another one"
        case .full: "it cannot store another finger"
        }
    }
}
