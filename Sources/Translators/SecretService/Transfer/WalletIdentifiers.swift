/// The identifiers of the collections into which wallets of KWallet are imported.
struct WalletIdentifiers {
    /// The wallet that becomes the default one of KDE's programs.
    private let standard: String?
    /// The number of wallets for each identifier that is derived from a name.
    private let counts: [String: Int]

    init(_ names: [String], default name: String) {
        // This name is that of Vauban's own default wallet.
        standard = names.contains(SecretServiceObjects.defaultWallet) ? nil : name
        counts = Dictionary(names.map { (Self.plain($0), 1) }, uniquingKeysWith: +)
    }

    func label(of wallet: String) -> String { wallet == standard ? SecretServiceObjects.defaultWallet : wallet }

    /// Returns the last part of the path that KWallet's own Secret Service gives the wallet, so that both imports lead to one collection.
    /// Adds a digest if several wallets would have that identifier.
    func identifier(of wallet: String) -> String {
        if wallet == standard { return SecretServiceObjects.defaultWallet }
        let plain = Self.plain(wallet)
        let isUnclear = plain.isEmpty || plain == MemoryItems.collection || (plain != wallet && (counts[plain] ?? 0) > 1)
        guard isUnclear else { return OtherCollection.identifier(of: plain) }
        return OtherCollection.identifier(of: "\(plain)_\(ItemMapping.identifier(OtherCollection.digest(wallet)))")
    }

    /// Returns a name in which letters, digits and `_` stay, and any other byte is `_` with two hexadecimal digits.
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
