import VaubanOneTimeCodes
import VaubanSecretBytes
import VaubanSecretText

/// The one-time codes of an entry of KeePass as addresses: those of KeePassXC and KeeOtp (`otp`), of KeeTrayTOTP (`TOTP Seed` and
/// `TOTP Settings`), and of KeePass itself (`TimeOtp-…` and `HmacOtp-…`).
struct KeePassCodes {
    /// A parameter of an address; nil or empty for the default.
    private typealias Parameter = (name: String, value: String?)

    private var parts: [KeePassEntry.Part]
    private var codes: [SecretBox] = []
    private var changes: [String] = []
    private let issuer: String
    private let account: String

    /// Moves the codes from the parts of an entry to its record. The remaining parts are marked as protected, since they are keys.
    static func take(from parts: inout [KeePassEntry.Part], into source: inout SourceRecord) {
        var reading = KeePassCodes(parts, source)
        reading.takeOtp()
        reading.takeTray()
        reading.takeOwn("TimeOtp")
        reading.takeOwn("HmacOtp")
        parts = reading.parts.map { part in
            var part = part
            if ["otp", "TOTP Seed"].contains(part.name) || part.name.contains("Otp-Secret") { part.isProtected = true }
            return part
        }
        source.codes += reading.codes
        source.changed += reading.changes
    }

    private init(_ parts: [KeePassEntry.Part], _ source: SourceRecord) {
        self.parts = parts
        issuer = CodeAddress.escaped(source.title)
        account = CodeAddress.escaped(source.username)
    }

    private func value(_ name: String) -> SecretBox? { parts.first { $0.name == name }?.value }

    private func text(_ name: String) -> String { value(name)?.text?.trimmed ?? "" }

    private mutating func takeOtp() {
        guard let otp = value("otp") else { return }
        parts.removeAll { $0.name == "otp" }
        guard !CodeAddress.isAddress(otp), let (key, named) = Self.query(otp) else { return codes.append(otp) }
        let isCounting = named["type"]?.lowercased() == "hotp"
        let step: Parameter = isCounting ? ("counter", named["counter"]) : ("period", named["step"])
        add(key, isCounting: isCounting, [("algorithm", named["otphashmode"]), ("digits", named["size"]), step])
    }

    /// The settings are the seconds of a code and its digits, or S for Steam: `30;6`.
    private mutating func takeTray() {
        guard codes.isEmpty, let key = value("TOTP Seed") else { return }
        let settings = text("TOTP Settings").split(separator: ";", omittingEmptySubsequences: false).map(String.init)
        let form = settings.count > 1 ? settings[1] : nil
        let digits: Parameter = form == "S" ? ("encoder", "steam") : ("digits", form)
        add(key, isCounting: false, [digits, ("period", settings.first)])
        parts.removeAll { ["TOTP Seed", "TOTP Settings"].contains($0.name) }
    }

    private mutating func takeOwn(_ prefix: String) {
        guard codes.isEmpty, let key = ownKey(prefix) else { return }
        let isCounting = prefix == "HmacOtp"
        let algorithm = text("\(prefix)-Algorithm").replacing("HMAC-", with: "")
        let step: Parameter = isCounting ? ("counter", text("\(prefix)-Counter")) : ("period", text("\(prefix)-Period"))
        add(key, isCounting: isCounting, [("algorithm", algorithm), ("digits", text("\(prefix)-Length")), step])
        parts.removeAll { $0.name.hasPrefix("\(prefix)-") }
    }

    /// Returns a key of KeePass in Base32, from whichever encoding it has.
    private func ownKey(_ prefix: String) -> SecretBox? {
        if let plain = value("\(prefix)-Secret-Base32") { return plain }
        if let text = value("\(prefix)-Secret") { return Self.base32(text) }
        if let digits = value("\(prefix)-Secret-Hex"), let bytes = try? SecretBox(HexSecret.bytes(of: digits.secret)) {
            return Self.base32(bytes)
        }
        if let text = value("\(prefix)-Secret-Base64"), let bytes = SecretBase64.bytes(of: text.secret) {
            return Self.base32(SecretBox(bytes))
        }
        return nil
    }

    private static func base32(_ bytes: SecretBox) -> SecretBox { SecretBox(bytes.secret.withUnsafeBytes { Base32.encode($0) }) }

    private mutating func add(_ key: SecretBox, isCounting: Bool, _ parameters: [Parameter]) {
        let address = SecretBuilder()
        let label = [issuer, account].filter { !$0.isEmpty }.joined(separator: ":")
        address.append("otpauth://\(isCounting ? "hotp" : "totp")/\(label)?secret=")
        address.append((CodeAddress.key(key) ?? key).secret)
        if !issuer.isEmpty { address.append("&issuer=\(issuer)") }
        for (name, value) in parameters {
            if let value, !value.isEmpty { address.append("&\(name)=\(CodeAddress.escaped(value))") }
        }
        codes.append(address.kept)
        changes.append("one-time codes: the key became an otpauth address")
    }

    /// Returns the parts of KeeOtp's form, `key=…&step=30&size=6`; nil for any other form, no part of which becomes a `String`.
    private static func query(_ value: SecretBox) -> (key: SecretBox, named: [String: String])? {
        value.secret.withUnsafeBytes { bytes -> (key: SecretBox, named: [String: String])? in
            let opening = Array("key=".utf8)
            let pairs = bytes.split(separator: UInt8(ascii: "&"))
            guard let key = pairs.first(where: { $0.starts(with: opening) })?.dropFirst(opening.count) else { return nil }
            var named: [String: String] = [:]
            for pair in pairs where !pair.starts(with: opening) {
                guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { continue }
                let name = String(decoding: pair[..<equals], as: UTF8.self).lowercased()
                named[name] = String(decoding: pair[(equals + 1)...], as: UTF8.self)
            }
            return (SecretBox(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: key))), named)
        }
    }
}
