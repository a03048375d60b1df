import Glibc

/// The modules that look up users (nsswitch.conf(5)), which are code. A room loads them before hardening but calls none of them, since one
/// whose service hangs would delay the room's start.
enum NameModules {
    static let configuration = "/etc/nsswitch.conf"
    private static let bytesMax = 1 << 16

    /// Loads the modules that exist; the system manages without the others too. The library that calls them later finds them by the same
    /// names.
    static func load(_ configuration: String = configuration) {
        guard let text = SmallFile.text(path: configuration, max: bytesMax) else { return }
        // Never unloaded.
        for service in services(in: text) { _ = dlopen("libnss_\(service).so.2", RTLD_NOW) }
    }

    /// Returns the services for users, in order: `passwd: files [NOTFOUND=continue] sss`.
    static func services(in text: String) -> [String] {
        var services: [String] = []
        for line in text.split(whereSeparator: \.isNewline) {
            let words = line.prefix { $0 != "#" }.split(separator: ":", maxSplits: 1)
            guard words.count == 2 else { continue }
            let database = words[0].filter { !$0.isWhitespace }
            guard database == "passwd" || database == "passwd_compat" else { continue }
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
