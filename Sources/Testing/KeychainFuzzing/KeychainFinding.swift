/// A fuzzer's finding: a sentence that says which promise an input breaks. A crash is a finding without a sentence.
package struct KeychainFinding: Error, CustomStringConvertible {
    package let description: String
}

func promise(_ kept: Bool, _ sentence: @autoclosure () -> String) throws(KeychainFinding) {
    if !kept { throw KeychainFinding(description: sentence()) }
}
