import Glibc
import VaubanKeychainModel
import VaubanLinuxHost
import VaubanRefusal

/// A picture of the screen, which the desktop's portal saves in a file. vauban-secret-service requests it from the portal.
enum ScreenPicture {
    /// Returns the picture, open for reading. Its file is removed, since a QR code in it is a secret; `tell` is called if it cannot be.
    ///
    /// - Throws: `Refusal` with `cancelled` if the user refused or the call was cancelled, with `unavailable` if there is no portal, or it
    ///   took no picture in time.
    static func take(cancellation: CallCancellation? = nil, warn: (String) -> Void) throws -> Descriptor {
        var asked = timespec()
        // File timestamps come from this clock.
        clock_gettime(CLOCK_REALTIME_COARSE, &asked)
        let report = try BusReport(["--screen"], of: "the picture of the screen", cancellation: cancellation)
        guard case .picture(let path) = try report.next().entry else { throw report.broken }
        return try claim(path, madeSince: asked, warn)
    }

    /// Opens the file and removes its name. A file that the portal did not create just now belongs to another program, and stays.
    private static func claim(_ path: String, madeSince asked: timespec, _ warn: (String) -> Void) throws -> Descriptor {
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard number >= 0 else { throw Refusal(.unavailable, SystemError("open \(SafeText.visible(path))", code: errno).sentence) }
        let file = Descriptor(number)
        var facts = stat()
        guard fstat(number, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_uid == geteuid(),
            (facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec) >= (asked.tv_sec, asked.tv_nsec)
        else {
            throw Refusal(
                .unavailable,
                "The desktop's portal named \(SafeText.visible(path)), which it did not make for this; "
                    + "the file was not read and not removed"
            )
        }
        if unlink(path) != 0 { warn("\(SafeText.visible(path)) cannot be removed. Delete it: it shows what was on the screen.") }
        return file
    }
}
