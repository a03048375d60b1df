// The entitlements in a signature, before anybody parses them (Specs/code-signing.md).

package enum CodeEntitlements {
    /// Returns whether bytes can be a property list in XML. In one of the binary form an array may contain another many times, which is a
    /// few kilobytes that take all time and memory to read.
    package static func isXML(_ bytes: [UInt8]) -> Bool { bytes.first == 0x3C }
}
