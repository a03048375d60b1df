// The entitlements in a signature, before they are parsed (Specs/code-signing.md).

package enum CodeEntitlements {
    /// Returns whether the bytes can be an XML property list. The binary form is refused: an array in it may contain another one many
    /// times, so that a few kilobytes take unlimited time and memory to read.
    package static func isXML(_ bytes: [UInt8]) -> Bool { bytes.first == 0x3C }
}
