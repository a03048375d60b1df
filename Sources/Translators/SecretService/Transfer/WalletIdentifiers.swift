/// The collections that wallets of a KWallet become.
struct WalletIdentifiers {
    /// The wallet that becomes the one that KDE's programs use unless they choose another.
    private let standard: String?
    /// How many wallets have each identifier that follows from a name.
    private let counts: [String: Int]

    init(_ names: [String], default name: String) {
        // A wallet with this name is what Vauban calls its own.
        standard = names.contains(SecretServiceObjects.defaultWallet) ? nil : name
        counts = Dictionary(names.map { (Self.plain($0), 1) }, uniquingKeysWith: +)
    }

    func label(of wallet: String) -> String { wallet == standard ? SecretServiceObjects.defaultWallet : wallet }

    /// Returns the last part of the path that KWallet's own Secret Service gives the wallet, so that both imports have one collection; with
    /// a digest if that is not the wallet's alone.
    func identifier(of wallet: String) -> String {
        if wallet == standard { return SecretServiceObjects.defaultWallet }
        let plain = Self.plain(wallet)
        let isUnclear = plain.isEmpty || plain == MemoryItems.collection || (plain != wallet && (counts[plain] ?? 0) > 1)
        guard isUnclear else { return OtherCollection.identifier(of: plain) }
        return OtherCollection.identifier(of: "\(plain)_\(ItemMapping.identifier(OtherCollection.digest(wallet)))")
    }

    /// Letters, digits and `_` stay; another byte is `_` with two hexadecimal digits.
    private static func plain(_ name: String) -> String {
        name.utf8.reduce(into: "") { text, byte in
            let scalar = Unicode.Scalar(byte)
            if scalar.properties.isAlphabetic && scalar.isASCII || ("0"..."9").contains(scalar) || scalar == "_" {
                text.unicodeScalars.append(scalar)
            } else {
                text += "_\(ItemMapping.identifier([byte]))"
            }
        }
    }
}
