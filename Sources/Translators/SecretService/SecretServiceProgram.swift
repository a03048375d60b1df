import Glibc
internal import VaubanKeychainClient
internal import VaubanKeychainModel
internal import VaubanLinuxHost
internal import VaubanPlainText
internal import VaubanRefusal
internal import VaubanRoomHardening

/// The program vauban-secret-service. `vauban secret-service` and the session bus start it; with `--kwallet` it also takes KWallet's names.
/// `--owner` prints the owner of the name, `--count` reports the number of its items, and `--read` reports the items themselves; with
/// `--kwallet` these concern KWallet. `--screen` reports the path of a picture of the screen.
package enum SecretServiceProgram {
    static let name = "org.freedesktop.secrets"
    static let portalName = "org.freedesktop.impl.portal.desktop.vauban"

    package static func main() -> Never {
        do {
            switch Array(CommandLine.arguments.dropFirst()) {
            case let options where options.allSatisfy { ["--share", "--kwallet"].contains($0) }:
                try serve(isShared: options.contains("--share"), hasWallets: options.contains("--kwallet"))
            case ["--owner"]:
                printOwner(of: name, try BusConnection(address: try busAddress()))
                exit(0)
            case ["--owner", "--kwallet"]:
                let bus = try BusConnection(address: try busAddress())
                // The name of Plasma 6 precedes, since its owner also owns the older one.
                for name in WalletInterface.busNames.reversed() { printOwner(of: name, bus) }
                exit(0)
            case let words where words.first == "--read" && words.dropFirst().allSatisfy { ["--kwallet", "--no-prompt"].contains($0) }:
                let mayPrompt = !words.contains("--no-prompt")
                let read = words.contains("--kwallet") ? WalletReading.run : ProviderReading.run
                try report { try read($0, mayPrompt) }
            case ["--count"]: try report { try ProviderReading.count($0) }
            case ["--count", "--kwallet"]: try report { try WalletReading.count($0) }
            case ["--screen"]: try report { try ScreenPictureReport.run($0) }
            default:
                printToStandardError(
                    "usage: vauban-secret-service [--share] [--kwallet] | --owner [--kwallet] | --count [--kwallet] "
                        + "| --read [--kwallet] [--no-prompt] | --screen")
                exit(64)
            }
        } catch let refusal as Refusal {
            printToStandardError(refusal.message)
        } catch {
            printToStandardError((error as? SystemError)?.sentence ?? "\(error)")
        }
        exit(53)
    }

    private static func serve(isShared: Bool, hasWallets: Bool) throws -> Never {
        let hardening = try RoomHardening(.secretService)
        // For a user who starts the service by hand, and not for the log of the bus.
        let isOnTerminal = isatty(STDERR_FILENO) == 1
        let service = try Service.current()
        let bus = try BusConnection(address: try busAddress())
        try KeyAgreement.prepare()
        for sentence in try hardening.confine() { printToStandardError(sentence) }
        signal(SIGPIPE, SIG_IGN)
        try bus.watchClients()
        guard try bus.take(name) else {
            // Vauban's own service may run already.
            let isVauban = bus.process(of: name).map { program(of: $0) } == "vauban-secret-s"
            let advice = isVauban ? "See vauban doctor." : "To replace it from the next login on: vauban enable secret-service"
            printToStandardError("\(name) is \(owner(of: name, on: bus) ?? "another program's"). \(advice)")
            exit(53)
        }
        if (try? bus.take(portalName)) != true {
            printToStandardError("\(portalName) is not available; apps get no keys by the Secret portal.")
        }
        for wallets in hasWallets ? WalletInterface.busNames : [] where (try? bus.takeOrQueue(wallets)) != true {
            printToStandardError(
                "\(wallets) is \(owner(of: wallets, on: bus) ?? "another program's"). This program takes it when that one ends.")
        }
        var loop = try BusLoop(bus, service, isShared: isShared)
        if isOnTerminal { printToStandardError("Programs that use the Secret Service use Vauban until Ctrl-C.") }
        // The process runs as long as the desktop session and is mostly idle.
        MachineMemory.releaseStartupPages()
        MachineMemory.releaseLargeBlocks(from: SecretServiceLimits.largeBlockBytesMin)
        try loop.run()
    }

    /// Writes a report for `vauban`, which started this process: the items of the provider that owns the name now, the entries of KWallet,
    /// or the path of a picture of the screen.
    private static func report(_ work: (BusConnection) throws -> Void) throws -> Never {
        let hardening = try RoomHardening(.secretService)
        signal(SIGPIPE, SIG_IGN)
        let bus: BusConnection
        do {
            bus = try BusConnection(address: try busAddress())
        } catch {
            let sentence = "No session bus is running; run this in a desktop session"
            try TransferReport().write(.failure(sentence, number: Refusal.Reason.unavailable.rawValue))
            exit(0)
        }
        try KeyAgreement.prepare()
        _ = try hardening.confine()
        try work(bus)
        exit(0)
    }

    /// Prints the line `PROCESS PROGRAM` for the process that owns the name, or nothing if the name has no owner.
    private static func printOwner(of name: String, _ bus: BusConnection) {
        guard let process = bus.process(of: name) else { return }
        print("\(process) \(program(of: process))")
    }

    private static func owner(of name: String, on bus: BusConnection) -> String? {
        bus.process(of: name).map { "owned by \(program(of: $0)) (process \($0))" }
    }

    static func program(of process: Int32) -> String {
        PlainLine.of(SmallFile.text(path: "/proc/\(process)/comm", max: 64) ?? "", charactersMax: 16)
    }

    private static func busAddress() throws(Refusal) -> String {
        if let address = getenv("DBUS_SESSION_BUS_ADDRESS") { return String(cString: address) }
        if let folder = getenv("XDG_RUNTIME_DIR") { return "unix:path=\(String(cString: folder))/bus" }
        throw Refusal(.unavailable, "No session bus: DBUS_SESSION_BUS_ADDRESS and XDG_RUNTIME_DIR are unset")
    }
}

/// Prints a sentence to standard error.
func printToStandardError(_ sentence: String) {
    let line = "vauban-secret-service: \(sentence)\n"
    _ = line.withCString { write(STDERR_FILENO, $0, strlen($0)) }
}
