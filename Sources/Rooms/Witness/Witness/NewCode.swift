/// Whether a signed program may have executable memory that is in no file, by its entitlements (Specs/code-signing.md).
package enum NewCode {
    private static let entitlements = ["com.apple.security.cs.allow-jit", "com.apple.security.cs.allow-unsigned-executable-memory"]

    /// Returns whether the property list has one of the keys, and `<true/>` after it. Searches for these bytes only: the signer decides
    /// what is in the list, and the witness parses nothing that it need not.
    package static func isPermitted(by list: [UInt8]) -> Bool {
        entitlements.contains { name in
            let key = Array("<key>\(name)</key>".utf8)
            return list.indices.contains { start in
                list[start...].starts(with: key)
                    && list[(start + key.count)...].drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) }.starts(with: Array("<true/>".utf8))
            }
        }
    }
}
