// On Apple systems `AnyHashable` treats an NSString and the Swift string it bridges to as one key.
// Foundation for Linux does so for NSData, but not for NSString: a `[AnyHashable: Any]` would not
// find "acct" under `kSecAttrAccount`. The conformance below restores Apple's behavior. It reaches
// the whole process, and the protocol is not a public one; `AppleTypesTests` therefore checks both
// classes on every toolchain.

extension NSString: @retroactive _HasCustomAnyHashableRepresentation {
    /// The `String` with the same characters, which hashes like any other Swift string.
    public func _toCustomAnyHashable() -> AnyHashable? {
        AnyHashable(self as String)
    }
}
