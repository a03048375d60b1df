internal import VaubanAccessPolicy
package import VaubanKeychainModel
internal import VaubanPlainText

/// The options with which `vauban` selects this password and no other, as it lists them itself where a name fits several. An attribute with
/// characters that the user could not see has these written out: such a command finds nothing, and never another item.
package struct ItemOptions {
    package let words: [String]

    package init(_ record: ItemRecord) {
        let isServer = record.kind == .internetPassword
        var words = [isServer ? "--server" : "--service", record.text(isServer ? .server : .service), "--account", record.text(.account)]
        if isServer {
            let code = record.text(.protocolName)
            if !code.isEmpty { words += ["--protocol", code == "htps" ? "https" : code] }
            words += ["--port", "\(record.number(.port))", "--path", record.text(.path)]
        }
        let owner = record.text(.accessGroup)
        if !owner.isEmpty, owner != AccessGroup.commandLine { words += ["--owner", owner] }
        self.words = words.map { PlainLine.name($0, charactersMax: BrowserLimits.optionCharactersMax) }
    }
}
