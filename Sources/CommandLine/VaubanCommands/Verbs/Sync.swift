import ArgumentParser
import VaubanKeychainClient
import VaubanKeychainWire
import VaubanRefusal
import VaubanSyncModel

struct Sync: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Share synchronizable items with your other devices through a folder or etcd.",
        discussion: """
            Items that you share with vauban edit NAME --sync, or that a program marks as synchronizable, are written to a folder \
            that something else carries: a share, a stick, Syncthing. In place of a folder, every command also takes etcd: followed \
            by the folder of your account in etcd. Only the devices of the circle can read the items. Items of this device only, \
            items that need you or the passcode, and private keys stay here. vauban sync writes what changed here and reads what \
            changed elsewhere.

            Example:
              vauban sync new ~/Shared/keychain
              vauban edit github/anna --sync       share an item
              vauban sync join ~/Shared/keychain   on another device; then vauban sync approve here
              vauban sync new etcd:~/etcd-account  in etcd, with the account that its operator gave you
              vauban sync
              vauban sync status
              vauban sync remove laptop
              vauban sync allow pi deploy/token     an item for a companion; see vauban help sync approve
              vauban sync token ci --item deploy/token --file token   for a server; see vauban help sync token
              vauban sync recovery --make           a key for a new device when all others are lost
            """,
        subcommands: [
            SyncNow.self, SyncNew.self, SyncJoin.self, SyncApprove.self, SyncToken.self, SyncRecovery.self, SyncStatus.self,
            SyncRemove.self, SyncAllow.self, SyncDisallow.self, SyncLeave.self,
        ],
        defaultSubcommand: SyncNow.self)

    /// Synchronizes once and reports.
    @discardableResult
    static func synchronize(_ circle: SyncCircle) throws -> SyncOutcome {
        let outcome = try SyncOutcome(of: circle)
        if outcome.isComplete { circle.home.noteComplete(circle.folder) }
        for sentence in outcome.findings + outcome.conflicts { say(sentence) }
        say(outcome.counts)
        return outcome
    }

    /// Synchronizes after a change of the circle. The change stays in effect even if this fails: the exit status of the command says only
    /// whether the change was made, and the next vauban sync reports what could not be synchronized.
    static func synchronizeAfterChange(_ circle: SyncCircle) {
        do {
            if try !synchronize(circle).isComplete { say("Not everything was synchronized. To try again: vauban sync") }
        } catch {
            let why = (error as? Refusal).map { $0.detail ?? $0.message } ?? "\(error)"
            say("The change was made, but the items were not synchronized: \(why). To do that: vauban sync")
        }
    }
}

struct SyncNow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "now",
        abstract: "Synchronize once.",
        discussion: """
            Exits 0 if everything in the folder was read and every change was made here, 1 if files are missing, were altered or put \
            back to an earlier state, a change cannot be made, or an access log ends earlier than before; everything else is read \
            nevertheless. The keychain must be unlocked. --follow continues until Ctrl-C and synchronizes each change, here or on \
            another device, at once, while the keychain is unlocked. --schedule has systemd do either for you.

            Example:
              vauban sync
              vauban sync --follow
              vauban sync --schedule follow
              vauban sync --schedule 5min
              vauban sync --folder /media/stick/keychain   once, after the folder was moved
              vauban sync --folder etcd:~/etcd-account     once, after etcd was put back to an earlier state on purpose
            """)

    /// When systemd synchronizes.
    enum Period: String, ExpressibleByArgument, CaseIterable {
        case follow
        case fiveMinutes = "5min"
        case quarterHour = "15min"
        case hourly

        /// Also accepts these times in the notation of other durations.
        init?(argument: String) {
            let others: [String: Period] = ["5m": .fiveMinutes, "15m": .quarterHour, "1h": .hourly]
            guard let period = Period(rawValue: argument) ?? others[argument] else { return nil }
            self = period
        }

        /// When the timer runs; nil for a service that keeps running.
        fileprivate var calendar: String? {
            switch self {
            case .follow: nil
            case .fiveMinutes: "*:0/5"
            case .quarterHour: "*:0/15"
            case .hourly: rawValue
            }
        }

        fileprivate var words: String {
            switch self {
            case .follow: "changes as they come"
            case .fiveMinutes: "every five minutes"
            case .quarterHour: "every fifteen minutes"
            case .hourly: "every hour"
            }
        }
    }

    @Option(help: "The folder that your devices share, or etcd:ACCOUNT, from now on.", completion: .directory)
    var folder: String?

    @Flag(help: "Keep synchronizing changes as they happen, until Ctrl-C.")
    var follow = false

    @Option(
        help: ArgumentHelp("Synchronize now, and from now on this often, or as changes come.", valueName: "follow|5min|15min|hourly"))
    var schedule: Period?

    @Flag(help: "End the scheduled synchronization.")
    var unschedule = false

    @OptionGroup var user: UserOptions

    func validate() throws {
        if unschedule, folder != nil || schedule != nil || follow { throw ValidationError("--unschedule takes no other arguments") }
        if follow, folder != nil || schedule != nil {
            throw ValidationError("--follow takes neither --folder nor --schedule; run vauban sync with those first")
        }
    }

    func run() throws {
        if unschedule {
            return say(try UserTimer.remove(.sync) ? "Synchronization is no longer scheduled." : "No synchronization was scheduled.")
        }
        if follow { try SyncFollower(user).run() }
        let timer = try schedule.map {
            try UserTimer(
                .sync, $0 == .follow ? ["--follow"] : [], calendar: $0.calendar, service: try ServiceAccess.current())
        }
        let client = try ServiceClient(user)
        try client.openNow()
        let home = try SyncHome(client.service)
        var circle = try SyncCircle(client, home, at: try folder.map { try SyncPlace.existing($0) })
        let waiting = try circle.enterOrFollow()
        if folder != nil { try home.keep(circle.folder) }
        if let timer, let schedule {
            try timer.start()
            say("Scheduled: systemd synchronizes \(schedule.words), while you are logged in and the keychain is unlocked.")
        }
        if let waiting { throw waiting }
        // The service has already begun to synchronize, and reports in the journal.
        if schedule == .follow { return }
        let outcome = try Sync.synchronize(circle)
        if !outcome.isComplete || !outcome.logsAreSound { throw ExitCode(1) }
    }
}

struct SyncNew: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Start a circle of devices with this one, in a new or empty folder.",
        discussion: """
            Example:
              vauban sync new ~/Shared/keychain
            """)

    @Argument(help: ArgumentHelp("The folder that your devices share, or etcd:ACCOUNT.", valueName: "folder"), completion: .directory)
    var folder: String

    @Option(help: "The name by which the other devices know this one.")
    var name: String?

    @OptionGroup var user: UserOptions

    func validate() throws { try SyncArguments.validate(name: name) }

    func run() throws {
        let client = try ServiceClient(user)
        try client.openNow()
        let home = try SyncHome(client.service)
        guard try !home.hasCircleOrRequest(client) else {
            throw Refusal(
                .badParameter,
                "This device is in a circle already, or waits to join one; see: vauban sync status. To end that: vauban sync leave")
        }
        home.forget()
        try home.keep(try SyncPlace.new(folder))
        _ = try client.keychain.circle(.begin(name: name ?? SyncHome.deviceName))
        var circle = try SyncCircle(client, home)
        try circle.follow()
        say("Started a circle with this device. On another one: vauban sync join FOLDER")
        Sync.synchronizeAfterChange(circle)
        if let rows = try? client.keychain.syncRows().rows, rows.isEmpty {
            say("No item is shared yet. To share one: vauban edit NAME --sync")
        }
    }
}

struct SyncStatus: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "List the devices of the circle, and say when this device last synchronized.",
        discussion: """
            Says what this device knew when it last synchronized; it does not synchronize, and does not report whether it could.

            Example:
              vauban sync status
              vauban sync status --json
            """)

    @OptionGroup var description: DescriptionOptions
    @OptionGroup var user: UserOptions

    func run() throws {
        let client = try ServiceClient(user)
        try client.openNow()
        let circle = try SyncCircle(client, try SyncHome(client.service))
        if description.json { return print(try ItemDescription.json(try SyncStatusDocument(circle))) }
        let more = circle.folder.description
        print("Folder   \(SafeText.visible(circle.folder.place))\(more.isEmpty ? "" : " (\(more))")")
        if let sponsor = circle.view.sponsor {
            return print("This device waits until \(SafeText.visible(sponsor.name)) has run vauban sync; then run vauban sync here.")
        }
        guard circle.view.circle != nil else { return print("This device waits to join; run vauban sync join again.") }
        let last = circle.home.lastSync
        print("Last synchronized: \(last.map { StatusText.time($0.date) + $0.advice() } ?? "not known")")
        for member in circle.view.members {
            let here = member.device == circle.view.device ? "  (this device)" : ""
            let recovered = circle.view.recovered.contains(member.device) ? "  joined by a recovery key" : ""
            print("Device   \(SafeText.visible(member.name))  \(StoredBackupFolder.hex(member.device).prefix(8))\(here)\(recovered)")
        }
        var run = try SyncRun(circle)
        for sentence in run.statementWarnings() { say("\(sentence).") }
        if circle.view.isCompanion {
            return print("This device is a companion: it receives items of the others' lists, and sends nothing.")
        }
        if !circle.view.companions.isEmpty {
            let names = Set(try client.keychain.syncRows().rows.compactMap(\.name))
            for companion in circle.view.companions {
                let device = companion.device
                let items = companion.names.all.count(where: names.contains)
                let gone = companion.names.all.count - items
                let without = gone > 0 ? ", \(count(gone, "name")) on its list without an item here" : ""
                print(
                    "Companion  \(SafeText.visible(device.name))  \(StoredBackupFolder.hex(device.device).prefix(8))  "
                        + "receives \(count(items, "item"))\(without)")
            }
        }
        let memory = try circle.rememberedHeads(run.stateCipher)
        for member in circle.view.members where member.device != circle.view.device {
            guard let known = memory.devices[member.device] else { continue }
            print("Log      \(SafeText.visible(member.name))  \(known.words)")
        }
        for member in circle.view.members {
            guard let setback = memory.devices[member.device]?.setback else { continue }
            say(setback.sentence(about: member.device == circle.view.device ? "this device" : SafeText.visible(member.name)))
        }
        for token in circle.view.tokens {
            print(
                "Token    \(SafeText.visible(token.name))  expires \(StatusText.time(token.expires))  "
                    + "for \(count(Int(token.itemCount), "item"))")
        }
        if circle.view.hasRecoveryKey { print("The circle has a recovery key.") }
        let behind = run.keepsFilesOfRemoved ? run.membersBehind().map { SafeText.visible($0.name) } : []
        if !behind.isEmpty {
            print("Removed  files of removed devices stay until vauban sync has run on \(behind.joined(separator: ", "))")
        }
        if let compaction = run.state.compaction, compaction.end > 0, !run.membersAwaited.isEmpty {
            let names = run.membersAwaited.map { SafeText.visible($0.name) }.joined(separator: ", ")
            let kept = Int(compaction.last - (run.state.recorded?.last ?? 0))
            print("Kept    \(count(kept, "file")) of this device, until these devices have read them: \(names)")
        }
        // Items that compaction will rewrite do not count as changes.
        if run.pending > 0, run.state.compaction?.end != 0 { print("To send  \(count(run.pending, "change"))") }
    }
}

struct SyncRemove: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a device from the circle.",
        discussion: """
            Needs your approval. The circle gets a new key: the removed device cannot read what your other devices write after they \
            have run vauban sync. It keeps what it has read: change the passwords that it must no longer know.

            Example:
              vauban sync remove laptop
            """)

    @Argument(help: ArgumentHelp("The device's name, or the beginning of its identifier.", valueName: "device"))
    var device: String

    @OptionGroup var user: UserOptions

    func run() throws {
        let client = try ServiceClient(user)
        try client.openNow()
        var circle = try SyncCircle(client, try SyncHome(client.service))
        try circle.follow()
        try circle.requireMember()
        let member = try circle.device(device)
        let list = circle.view.companions.first { $0.device == member }?.names
        var (had, unnamed): ([String], Int) = ([], 0)
        guard member.device != circle.view.device else {
            throw Refusal(
                .badParameter,
                "\(SafeText.visible(member.name)) is this device; run vauban sync leave here, then remove it on another device")
        }
        // Read first what only the removed device has written. Write nothing before the removal, since that device could read it. Mark
        // everything to be written again, so that a kill after the removal loses nothing; if the user declines the removal, this only costs
        // writing everything once more.
        do {
            var last = try SyncRun(circle)
            defer {
                for fault in last.faults { say("Not complete: \(fault).") }
                do { try last.repeatEverything() } catch { say("Not complete: \(error).") }
            }
            try last.run(isReading: true)
            for sentence in SyncOutcome(last).conflicts { say(sentence) }
            if let list {
                let names = Set(list.all).union((last.state.companions[member.device]?.ledger.entries ?? [:]).keys)
                had = names.compactMap { last.rows[$0]?.shownName }.filter { !$0.isEmpty }.sorted()
                unnamed = names.count - had.count
            }
        } catch let refusal as Refusal where refusal.reason == .locked {
            throw refusal
        } catch {
            // A failure to read or write must not prevent the removal of a device.
            say("Not complete: \((error as? Refusal).map { $0.detail ?? $0.message } ?? "\(error)").")
        }
        try circle.change(.remove(device: member.device))
        say("Removed \(SafeText.visible(member.name)). It reads nothing that your other devices write after they have run vauban sync.")
        if circle.view.hasRecoveryKey {
            say("If somebody else has it now, make another recovery key too: vauban sync recovery --make")
        }
        if list != nil {
            // This device may not know items that were sent only by devices that have since been removed, or in files that are held back.
            var items = had.map { SafeText.visible($0) }
            if unnamed > 0 { items.append("\(count(unnamed, "item")) without a name here") }
            let before =
                items.isEmpty ? "whatever was on its list" : "\(items.joined(separator: ", ")), and whatever else was on its list before"
            say("It has received \(before). Change these secrets where they are used.")
        }
        Sync.synchronizeAfterChange(circle)
    }
}

struct SyncLeave: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "leave",
        abstract: "Leave the circle on this device.",
        discussion: """
            Erases this device's keys of the circle. Its items stay here and on the other devices. Then remove it on another device: \
            vauban sync remove.

            Example:
              vauban sync leave
            """)

    func run() throws {
        let client = try ServiceClient(CommandUser(mayBePrompted: false))
        let home = try SyncHome(client.service)
        let waiting = try? client.keychain.circle(.view).reply.view
        let folder: (any SyncCarrier)? = if waiting?.circle == nil { try? home.folder } else { nil }
        do throws(Refusal) {
            _ = try client.keychain.circle(.leave)
        } catch {
            // An earlier, interrupted command may have left the circle already.
            guard error.reason == .notAllowedHere, try !home.hasCircleOrRequest(client) else { throw error }
            home.forget()
            throw NoCircle(description: error.message)
        }
        home.forget()
        // The request to join is no longer needed. It stays if the folder is not there.
        if let waiting, let folder, let names = try? folder.names(in: .join) {
            for file in JoinFile.allCases.map({ $0.name(of: waiting.device) }) where names.contains(file) { folder.remove(file, in: .join) }
        }
        say("Left the circle; the items stay here. To remove this device, run on another one: vauban sync remove NAME")
    }
}
