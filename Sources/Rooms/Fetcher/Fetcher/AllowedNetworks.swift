import Glibc
import Logging
import VaubanLinuxHost
import VaubanTransportPolicy

/// The networks that root allows besides public addresses, in a file that is read for each query, so that a change takes effect at once.
struct AllowedNetworks {
    static let path = "/etc/vauban/networks"
    let log: Logger

    /// Returns the rule with the networks of the file. A file that a user other than root can change allows nothing, nor does a line that
    /// cannot be parsed.
    var rule: AddressRule {
        guard let text else { return AddressRule() }
        let list = NetworkList(text)
        for line in list.unreadableLines.prefix(FetcherLimits.linesReportedMax) {
            log.error(
                "allows nothing: a line is a network such as 10.1.0.0/16, or an address in full",
                metadata: ["file": "\(Self.path)", "line": "\(line)"])
        }
        return AddressRule(allowing: list.networks)
    }

    private var text: String? {
        let number = open(Self.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if number < 0 {
            if errno != ENOENT && errno != ENOTDIR { report("it cannot be read: \(String(cString: strerror(errno)))") }
            return nil
        }
        let file = Descriptor(number)
        var facts = stat()
        guard fstat(number, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_uid == 0, facts.st_mode & 0o022 == 0 else {
            report("it must be a file of root's that nobody else can write")
            return nil
        }
        guard let bytes = SmallFile.bytes(of: file, max: FetcherLimits.networksBytesMax),
            let text = String(validating: bytes, as: UTF8.self)
        else {
            report("it is not text, or has more than \(FetcherLimits.networksBytesMax) bytes")
            return nil
        }
        return text
    }

    private func report(_ why: String) { log.error("allows nothing: \(why)", metadata: ["file": "\(Self.path)"]) }
}
