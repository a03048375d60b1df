import ArgumentParser
package import VaubanKeychainModel

/// The options that select an item: `service/account` in one argument, or part by part.
package struct ItemSelection: ParsableArguments {
    @Argument(
        help: ArgumentHelp("The item: service/account or server/account, also as vauban://service/account.", valueName: "item"),
        completion: ItemCompletion.kind)
    var word: String?

    @Option(name: .shortAndLong, help: "The service of a generic password.")
    var service: String?

    @Option(name: .shortAndLong, help: "The account.")
    var account: String?

    @Option(help: "The server of an internet password.")
    var server: String?

    @Option(name: .customLong("protocol"), help: "The protocol of the server, such as https.")
    var protocolName: String?

    @Option(help: "The port of the server.")
    var port: Int64?

    @Option(help: "The path on the server.")
    var path: String?

    @Option(help: ArgumentHelp("The URL of an internet password: protocol, server, and port, path and account if given.", valueName: "url"))
    var url: String?

    @Option(
        name: .customLong("attribute"),
        help: ArgumentHelp(
            "An attribute that a desktop program gave the item; may be repeated. Without a value: the item lacks it.",
            valueName: "name=value"))
    var desktopAttributes: [String] = []

    @Option(help: "The owner: cli for yourself, or a program such as program:/usr/bin/mail.")
    var owner: String?

    package init() {}

    package func validate() throws {
        if let word {
            do throws(ParsingError) { _ = try ItemReference.name(in: word) } catch {
                throw ValidationError(error.sentence)
            }
        }
        if word != nil && (service != nil || account != nil || server != nil) {
            throw ValidationError("Name the item as service/account or with --service, --server and --account, not both")
        }
        if service != nil && (server != nil || protocolName != nil || port != nil || path != nil) {
            throw ValidationError("--service cannot be combined with --server, --protocol, --port or --path")
        }
        if let url {
            guard word == nil, service == nil, server == nil, protocolName == nil, port == nil, path == nil else {
                throw ValidationError("--url can be combined with --account only")
            }
            do throws(ParsingError) { _ = try WebAddress(url) } catch {
                throw ValidationError(error.sentence)
            }
        }
        for word in desktopAttributes { _ = try DesktopAttribute(word) }
        if !desktopAttributes.isEmpty, url != nil || server != nil || protocolName != nil || port != nil || path != nil {
            throw ValidationError("--attribute cannot be combined with --url, --server, --protocol, --port or --path")
        }
        if let port, !(0...65535).contains(port) { throw ValidationError("A port must be a number up to 65535") }
    }

    /// The name in the argument, which may be a reference. `validate` has already checked it.
    private var typed: String? { word.map { word in (try? ItemReference.name(in: word)) ?? word } }

    /// The address in `--url`, which `validate` has already checked.
    private var address: WebAddress? { url.flatMap { try? WebAddress($0) } }
    /// The server from an option or a URL.
    var wantedServer: String? { server ?? address?.server }
    private var wantedProtocol: String? { protocolName ?? address?.scheme }
    var wantedPort: Int64? { port ?? address?.port }
    var wantedPath: String? { path ?? address?.path }

    package var isEmpty: Bool {
        word == nil && url == nil && service == nil && account == nil && server == nil && protocolName == nil && port == nil && path == nil
            && owner == nil && desktopAttributes.isEmpty
    }

    /// Throws a usage error if attributes of desktop programs are given, for a verb to which they mean nothing.
    func requireNoDesktopAttributes(for verb: String) throws {
        if !desktopAttributes.isEmpty { throw ValidationError("vauban \(verb) takes no --attribute; name the item as service/account") }
    }

    /// Throws an error if nothing is selected. For verbs that need one item.
    func requireSomething() throws {
        if isEmpty { throw ValidationError("No item given: name it as service/account, or with --service, --server or --url") }
    }

    /// The item's name and account for any kind of item. The argument is split at its first slash.
    package var nameAndAccount: (name: String?, account: String?) {
        guard let word = typed else { return (service ?? wantedServer, account ?? address?.account) }
        guard let slash = word.firstIndex(of: "/") else { return (word, nil) }
        return (String(word[..<slash]), String(word[word.index(after: slash)...]))
    }

    /// The other items that are listed under the argument's name: its service has slashes, and the account is what follows a later one, or
    /// empty.
    package var otherReadings: [ItemSelection] {
        guard let word = typed else { return [] }
        let slashes = word.indices.filter { word[$0] == "/" }
        let later = slashes.dropFirst().map { (String(word[..<$0]), String(word[word.index(after: $0)...])) }
        return (later + (slashes.isEmpty ? [] : [(word, "")])).map { service, account in
            var reading = self
            reading.word = nil
            reading.service = service
            reading.account = account
            return reading
        }
    }

    /// The selection for display.
    package var shown: String {
        let (name, account) = nameAndAccount
        let parts = [name ?? "", account ?? ""].filter { !$0.isEmpty }
        return SafeText.line(parts.isEmpty ? desktopAttributes.joined(separator: " ") : parts.joined(separator: "/"), max: 150)
    }

    /// The selection as one word of a shell, for a command to copy.
    var quoted: String { SafeText.word(shown) }

    /// The kinds of items that the arguments can select.
    package var kinds: [ItemKind] {
        if service != nil || !desktopAttributes.isEmpty { return [.genericPassword] }
        if url != nil || server != nil || protocolName != nil || port != nil || path != nil { return [.internetPassword] }
        return [.genericPassword, .internetPassword]
    }

    /// The searches to run in order. Host names are case-insensitive, so a server is searched in lower case, as it is stored here, and as
    /// it was typed, since a program may have stored it that way. An internationalized name is stored as browsers have it.
    package var wanted: [(kind: ItemKind, attributes: ItemAttributes)] {
        kinds.flatMap { kind in
            let attributes = attributes(of: kind)
            guard kind == .internetPassword, let name = nameAndAccount.name else { return [(kind, attributes)] }
            return HostName.forms(of: name).map { form in
                var wanted = attributes
                wanted[.server] = .text(form)
                return (kind, wanted)
            }
        }
    }

    /// Returns the attributes that an item of this kind must have to match.
    package func attributes(of kind: ItemKind) -> ItemAttributes {
        let (name, account) = nameAndAccount
        var attributes = ItemAttributes()
        if let owner { attributes[.accessGroup] = .text(owner) }
        if let name {
            if kind == .genericPassword { attributes[.service] = .text(name) } else { attributes[.server] = .text(HostName.kept(name)) }
        }
        // An empty account equals a missing one, so the results are filtered by it and not the query.
        if let account, !account.isEmpty { attributes[.account] = .text(account) }
        guard kind == .internetPassword else { return attributes }
        if let wantedProtocol { attributes[.protocolName] = .text(ProtocolCode.code(for: wantedProtocol)) }
        if let wantedPort, wantedPort != 0 { attributes[.port] = .number(wantedPort) }
        if let wantedPath, !wantedPath.isEmpty { attributes[.path] = .text(wantedPath) }
        return attributes
    }

    /// Returns whether a found item matches the parts that a query cannot express: those that must be empty, and attributes of desktop
    /// programs, which an item that none of them stored has by its name.
    package func means(_ record: ItemRecord) -> Bool {
        let isNamed =
            (nameAndAccount.account != "" || record.text(.account).isEmpty)
            && (port != 0 || record.number(.port) == 0) && (path != "" || record.text(.path).isEmpty)
        guard isNamed else { return false }
        // `validate` has already checked their form.
        let attributes = desktopAttributes.compactMap { try? DesktopAttribute($0) }
        return attributes.allSatisfy { $0.isFulfilled(by: record) }
    }
}
