/// The arguments `--home DIR --sockets DIR [--ready-descriptor N]`. Paths must be absolute, since the rooms receive them and the launcher
/// changes its working folder.
package struct LauncherOptions: Sendable, Hashable {
    package static let usage = "usage: vauban-launcher --home DIR --sockets DIR [--ready-descriptor N], with absolute paths"

    package let home: String
    package let sockets: String
    /// The descriptor to which the launcher writes one byte when the service is ready, for a process that waits for it; nil on a terminal.
    /// With it, the launcher logs to a file (`RoomLog`).
    package let readyDescriptor: Int32?

    package init?(_ words: [String]) {
        var given: [String: String] = [:]
        var rest = words[...]
        while let name = rest.popFirst() {
            guard ["--home", "--sockets", "--ready-descriptor"].contains(name), given[name] == nil, let value = rest.popFirst() else {
                return nil
            }
            given[name] = value
        }
        guard let home = given["--home"], let sockets = given["--sockets"], home.hasPrefix("/"), sockets.hasPrefix("/") else { return nil }
        self.home = home
        self.sockets = sockets
        guard let number = given["--ready-descriptor"] else {
            readyDescriptor = nil
            return
        }
        guard let descriptor = Int32(number), descriptor > 2 else { return nil }
        readyDescriptor = descriptor
    }
}
