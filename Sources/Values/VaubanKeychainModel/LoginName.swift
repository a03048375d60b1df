/// The name of a password of a website or server. The items attached to it have this name after their prefix (`otpauth:NAME`,
/// Specs/import.md).
package enum LoginName {
    /// The port of addresses without an explicit port.
    private static let portDefault: Int64 = 443

    /// Returns the server, with its port unless that is 443 or 0, which means none.
    package static func of(server: String, port: Int64) -> String {
        port == 0 || port == portDefault ? server : "\(server):\(port)"
    }
}
