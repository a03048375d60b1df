import Glibc

/// The modules that look up users or hosts (nsswitch.conf(5)). They are code, so a room loads them before hardening. It calls none of them,
/// since a module whose service hangs would delay the room's start.
enum NameModules {
    static let configuration = "/etc/nsswitch.conf"
    private static let bytesMax = 1 << 16

    /// Loads the modules that exist; the system ignores missing ones too. The C library, which calls them later, finds them by the same
    /// names.
    static func load(_ configuration: String = configuration, databases: Set<String> = users) {
        guard let text = SmallFile.text(path: configuration, max: bytesMax) else { return }
        // Never unloaded.
        for service in services(in: text, databases) { _ = dlopen("libnss_\(service).so.2", RTLD_NOW) }
    }

    static let users: Set<String> = ["passwd", "passwd_compat"]

    /// Returns the services of the databases in a configuration such as `passwd: files [NOTFOUND=continue] sss`, in order.
    static func services(in text: String, _ databases: Set<String> = users) -> [String] {
        var services: [String] = []
        for line in text.split(whereSeparator: \.isNewline) {
            let words = line.prefix { $0 != "#" }.split(separator: ":", maxSplits: 1)
            guard words.count == 2 else { continue }
            let database = words[0].filter { !$0.isWhitespace }
            guard databases.contains(database) else { continue }
            var isAction = false
            for word in words[1].split(whereSeparator: \.isWhitespace) {
                isAction = isAction || word.hasPrefix("[")
                if !isAction, !word.contains("/"), !services.contains(String(word)) { services.append(String(word)) }
                if word.hasSuffix("]") { isAction = false }
            }
        }
        return services
    }
}
