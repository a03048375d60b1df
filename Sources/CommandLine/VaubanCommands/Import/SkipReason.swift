/// Why one record is not imported, or one item is not moved; the others continue. The cause is in the source, or in what the keychain
/// already has. The text names columns and fields, never their values.
package struct SkipReason: Error {
    package let why: String
    package init(_ why: String) { self.why = why }
}
