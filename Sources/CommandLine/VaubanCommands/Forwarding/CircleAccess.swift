import Glibc
import VaubanKeychainClient
import VaubanLinuxHost
import VaubanRefusal
import VaubanSyncModel

/// This device's circle, for a process that keeps running. The circle is opened again whenever its keys are needed, since they are not
/// kept.
final class CircleAccess {
    let service: Service
    private var user: CommandUser
    /// True only for the first use: a service that the user stops afterwards must stay stopped.
    private var startsService = true
    private var carrier: (any SyncCarrier)?

    init(_ service: Service, _ options: UserOptions) {
        self.service = service
        user = CommandUser(options)
    }

    /// Follows the circle's statements and opens it. Returns it with the ciphers of this device's files, by epoch. The first time, unlocks
    /// a locked keychain if the user can be prompted; later, throws if it is locked.
    func open() throws -> (circle: SyncCircle, files: [FrameCipher]) {
        let client = ServiceClient(user, service, name: "The keychain", startsService: startsService)
        startsService = false
        try client.openNow()
        user = CommandUser(mayBePrompted: false)
        // Wait only a limited time: the holder of the lock may be waiting for the very prompt that is to be forwarded.
        let home = try SyncHome(service)
        defer { home.release() }
        if carrier?.place != (try home.place) { carrier = nil }
        var circle = try SyncCircle(client, home, known: carrier)
        try circle.follow()
        carrier = circle.folder
        return (circle, try circle.open().files)
    }

    /// Returns the carrier of the circle's files, even while the keychain is locked.
    func folder() throws -> any SyncCarrier {
        if let carrier { return carrier }
        let home = try SyncHome(service)
        defer { home.release() }
        guard let folder = try home.folder else {
            throw Refusal(.badParameter, "The folder of this device's circle is no longer known; run: vauban sync --folder FOLDER")
        }
        carrier = folder
        return folder
    }

    /// Drops the carrier, since it may not recover from a failure; the next use opens it again.
    func forgetCarrier() { carrier = nil }

    /// Returns the circle as last recorded on this device; nil if the keychain is locked or cannot be reached. Throws if the device is in
    /// no circle.
    func knownView() throws(Refusal) -> CircleView? {
        do throws(Refusal) {
            return try KeychainClient(service: service, startsService: false).circle(.view).reply.view
        } catch {
            guard error.reason != .notAllowedHere else { throw error }
            return nil
        }
    }
}

/// The signals that wake a process that forwards prompts, or shows those of other devices.
final class ForwardingSignals {
    let wakeup: Wakeup
    private let unlocking: UnlockMonitor
    private var watch: (any CarrierMonitor)?
    private var watched = ""
    private var checksRegularly = false

    init(of service: Service) throws {
        wakeup = try Wakeup()
        unlocking = try UnlockMonitor(of: service, waking: wakeup)
    }

    /// Signals once the keychain is unlocked, if it is locked.
    func awaitUnlock() { unlocking.wake() }

    /// Signals when other devices forward something on this carrier from now on.
    func watch(_ folder: any SyncCarrier, besides device: [UInt8]) throws(Refusal) {
        if let failure = watch?.failure {
            watch = nil
            throw failure
        }
        if let watch, watched == folder.place { return try watch.refresh() }
        let watch = try folder.watch(for: .prompts, besides: device, waking: wakeup)
        (self.watch, watched) = (watch, folder.place)
        if watch.signalsEverything || checksRegularly { return }
        // Check regularly: a network share does not report changes made elsewhere, and a prompt waits only a few minutes.
        do throws(SystemError) {
            try HostThread.start { [wakeup] in
                while true {
                    poll(nil, 0, Self.checkMilliseconds)
                    wakeup.signal()
                }
            }
        } catch {
            throw Refusal(.unavailable, error.sentence)
        }
        checksRegularly = true
    }

    /// Ends the watch; the next `watch` starts a new one.
    func forgetWatch() { watch = nil }

    private static let checkMilliseconds: Int32 = 2_000
}
