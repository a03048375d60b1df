internal import VaubanKeychainModel
internal import VaubanLinuxHost
internal import VaubanRefusal

/// A picture of the screen, taken by the desktop portal (xdg-desktop-portal), which may prompt the user. The portal replies with the URI of
/// a file, and this process reports the path of that file.
enum ScreenPictureReport {
    private static let portal = "org.freedesktop.portal.Desktop"
    private static let portalPath = "/org/freedesktop/portal/desktop"
    private static let screenshot = "org.freedesktop.portal.Screenshot"
    private static let request = "org.freedesktop.portal.Request"
    private static let instead = "or copy a picture and run vauban code scan --clipboard"

    /// Reports the path, or why there is no picture. Throws only if the report cannot be written.
    static func run(_ bus: BusConnection) throws {
        try TransferReport().reporting(failure: sentence) { try $0.write(.picture(try take(bus))) }
    }

    private static func take(_ bus: BusConnection) throws -> String {
        try bus.watchClients()
        // Subscribes before the call, so that no response is missed.
        try bus.watch("type='signal',interface='\(request)',member='Response'")
        let options = BusValue.properties([("interactive", .boolean(false))])
        let reply = try bus.call(
            portal, path: portalPath, interface: screenshot, member: "Screenshot", [.string(""), options],
            timeout: SecretServiceLimits.portalAnswerMax)
        guard let handle = reply.first?.text, let owner = bus.owner(of: portal) else { throw ended }
        let deadline = MachineClock.monotonic + SecretServiceLimits.screenPictureTime
        guard let answer = try bus.signal(request, "Response", path: handle, from: owner, until: deadline) else {
            guard MachineClock.monotonic >= deadline else { throw ended }
            throw Refusal(.unavailable, "The desktop's portal took no picture of the screen in 60 seconds; try again, \(instead)")
        }
        guard case .unsigned32(let code)? = answer.first, answer.count == 2 else { throw ended }
        switch code {
        case 0: break
        case 1: throw Refusal(.cancelled, "the desktop was not allowed to take a picture of the screen")
        default: throw Refusal(.unavailable, "The desktop's portal refused to take a picture of the screen; allow it there, \(instead)")
        }
        guard let address = answer[1].entries.first(where: { $0.name == "uri" })?.value.text, let path = path(of: address) else {
            throw Refusal(.unavailable, "The desktop's portal named no file with the picture of the screen; try again, \(instead)")
        }
        return path
    }

    private static var ended: Refusal {
        Refusal(.unavailable, "The desktop's portal ended before it had taken a picture of the screen; try again, \(instead)")
    }

    private static func sentence(of failure: BusError) -> String {
        let name = failure.name.split(separator: ".").last.map(String.init) ?? ""
        switch name {
        case "ServiceUnknown", "NameHasNoOwner", "ServiceNotFound":
            return "This desktop has no portal to take a picture of the screen; install xdg-desktop-portal, \(instead)"
        case "UnknownMethod", "UnknownInterface", "UnknownObject":
            return "The portal of this desktop takes no pictures of the screen; install its backend for your desktop "
                + "(such as xdg-desktop-portal-gnome, -kde or -wlr), \(instead)"
        case "Timeout", "TimedOut", "NoReply": return "The desktop's portal does not answer; try again, \(instead)"
        default: return "The desktop's portal failed: \(failure.line)"
        }
    }

    /// Returns the path of a file URI; nil for any other URI, or if the path is not text or too long for a report.
    private static func path(of address: String) -> String? {
        let scheme = "file://"
        guard address.hasPrefix(scheme + "/") else { return nil }
        var bytes: [UInt8] = []
        var rest = Array(address.utf8.dropFirst(scheme.utf8.count))[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            rest = rest.dropFirst(2)
            guard digits.count == 2, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
                let decoded = UInt8(String(decoding: digits, as: UTF8.self), radix: 16), decoded != 0
            else { return nil }
            bytes.append(decoded)
        }
        guard bytes.count <= TransferEntry.textBytesMax else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}
