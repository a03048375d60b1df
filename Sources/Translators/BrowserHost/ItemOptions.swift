internal import VaubanAccessPolicy
package import VaubanKeychainModel
internal import VaubanPlainText

/// The options with which `vauban` selects exactly this password, as `vauban` itself lists them if a name matches several items. Invisible
/// characters of an attribute are escaped: such a command finds nothing rather than another item.
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
