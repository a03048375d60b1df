import ArgumentParser

struct SSHWhere: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "where",
        abstract: "List the places where a key is registered, as you recorded them.",
        discussion: """
            Example:
              vauban ssh where work --add git.example.org
              vauban ssh where work
              vauban ssh where work --remove git.example.org
            """)

    @Argument(help: "The name of the key.") var name: String
    @Option(help: ArgumentHelp("Record a server or a service; may be repeated.", valueName: "place")) var add: [String] = []
    @Option(help: ArgumentHelp("Remove a place from the list; may be repeated.", valueName: "place")) var remove: [String] = []
    @OptionGroup var user: UserOptions

    func run() throws {
        let client = try ServiceClient(user)
        let key = try SSHKeyring(client).key(name)
        let places = SSHPlaces(client)
        for place in remove { try places.remove(place, from: key.name) }
        for place in add { try places.add(place, to: key.name) }
        guard add.isEmpty, remove.isEmpty else { return }
        let known = try places.places(of: key.name)
        if known.isEmpty { say("No place is recorded. To record one: vauban ssh where \(SafeText.visible(key.name)) --add PLACE") }
        for place in known { print("\(SafeText.visible(place.name))\t\(place.day)") }
    }
}
