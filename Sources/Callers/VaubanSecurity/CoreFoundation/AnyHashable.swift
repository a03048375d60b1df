// On Apple's systems `AnyHashable` treats an NSString and the Swift string it bridges to as one key. Foundation for Linux does so for
// NSData, but not for NSString: a `[AnyHashable: Any]` would not find "acct" under `kSecAttrAccount`. The conformance below restores
// Apple's behavior. It affects the whole process and uses a protocol that is not public, so `AppleTypesTests` checks both classes on every
// toolchain.

extension NSString: @retroactive _HasCustomAnyHashableRepresentation {
    /// Returns the `String` with the same characters, which hashes like any other Swift string.
    public func _toCustomAnyHashable() -> AnyHashable? {
        AnyHashable(self as String)
    }
}
