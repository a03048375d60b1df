/// A fuzzer's finding: a sentence that states which promise an input breaks. The fault is always Vauban's own. A crash is a finding without
/// a sentence.
package struct Finding: Error, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}

/// Throws a finding unless the condition holds.
package func require(_ condition: Bool, _ sentence: @autoclosure () -> String) throws(Finding) {
    if !condition { throw Finding(sentence()) }
}
