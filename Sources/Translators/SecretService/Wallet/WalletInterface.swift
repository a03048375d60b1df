/// KWallet's interface as tables (Specs/kwallet.md).
enum WalletInterface {
    static let name = "org.kde.KWallet"
    static let busNames = ["org.kde.kwalletd5", "org.kde.kwalletd6"]
    static let paths = ["/modules/kwalletd5", "/modules/kwalletd6"]

    private typealias Method = Introspection.Method

    // The order matters: of several methods with one name, clients that read the description use the last one.
    static let methods: [Introspection.Method] = [
        Method(name: "isEnabled", takes: "", gives: "b"), Method(name: "open", takes: "sxs", gives: "i"),
        Method(name: "openPath", takes: "sxs", gives: "i"), Method(name: "openAsync", takes: "sxsb", gives: "i"),
        Method(name: "openPathAsync", takes: "sxsb", gives: "i"), Method(name: "close", takes: "sb", gives: "i"),
        Method(name: "close", takes: "ibs", gives: "i"), Method(name: "sync", takes: "is", gives: ""),
        Method(name: "deleteWallet", takes: "s", gives: "i"), Method(name: "isOpen", takes: "s", gives: "b"),
        Method(name: "isOpen", takes: "i", gives: "b"), Method(name: "users", takes: "s", gives: "as"),
        Method(name: "changePassword", takes: "sxs", gives: ""), Method(name: "wallets", takes: "", gives: "as"),
        Method(name: "folderList", takes: "is", gives: "as"), Method(name: "hasFolder", takes: "iss", gives: "b"),
        Method(name: "createFolder", takes: "iss", gives: "b"), Method(name: "removeFolder", takes: "iss", gives: "b"),
        Method(name: "entryList", takes: "iss", gives: "as"), Method(name: "readEntry", takes: "isss", gives: "ay"),
        Method(name: "readMap", takes: "isss", gives: "ay"), Method(name: "readPassword", takes: "isss", gives: "s"),
        Method(name: "readEntryList", takes: "isss", gives: "a{sv}"), Method(name: "readMapList", takes: "isss", gives: "a{sv}"),
        Method(name: "readPasswordList", takes: "isss", gives: "a{sv}"), Method(name: "entriesList", takes: "iss", gives: "a{sv}"),
        Method(name: "mapList", takes: "iss", gives: "a{sv}"), Method(name: "passwordList", takes: "iss", gives: "a{sv}"),
        Method(name: "renameEntry", takes: "issss", gives: "i"), Method(name: "writeEntry", takes: "issayis", gives: "i"),
        Method(name: "writeEntry", takes: "issays", gives: "i"), Method(name: "writeMap", takes: "issays", gives: "i"),
        Method(name: "writePassword", takes: "issss", gives: "i"), Method(name: "hasEntry", takes: "isss", gives: "b"),
        Method(name: "entryType", takes: "isss", gives: "i"), Method(name: "removeEntry", takes: "isss", gives: "i"),
        Method(name: "disconnectApplication", takes: "ss", gives: "b"), Method(name: "reconfigure", takes: "", gives: ""),
        Method(name: "folderDoesNotExist", takes: "ss", gives: "b"), Method(name: "keyDoesNotExist", takes: "sss", gives: "b"),
        Method(name: "closeAllWallets", takes: "", gives: ""), Method(name: "networkWallet", takes: "", gives: "s"),
        Method(name: "localWallet", takes: "", gives: "s"), Method(name: "pamOpen", takes: "sayi", gives: ""),
    ]

    static let signals: [(name: String, carries: String)] = [
        ("walletListDirty", ""), ("walletCreated", "s"), ("walletOpened", "s"), ("walletAsyncOpened", "ii"), ("walletDeleted", "s"),
        ("walletClosed", "s"), ("walletClosed", "i"), ("walletClosedId", "i"), ("allWalletsClosed", ""), ("folderListUpdated", "s"),
        ("folderUpdated", "ss"), ("applicationDisconnected", "ss"),
    ]

    /// Returns the index of a method's argument that is a secret string; nil if it has none.
    static func secretText(of member: String) -> Int? { member == "writePassword" ? 3 : nil }
}
