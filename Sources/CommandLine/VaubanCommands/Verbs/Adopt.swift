import ArgumentParser
import Glibc
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanKeychainModel
import VaubanLinuxHost
import VaubanRefusal
import VaubanUserModel

struct Adopt: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Moves the keychain that you made in user mode into the installed service.",
        discussion: """
            Every item comes over as your own (cli), with its attributes and its protection; what is there already is \
            compared and left as it is. It can be broken off at any time and run again. The old keychain is kept until \
            everything was moved and you have said that it may be deleted. It ends with 0 when everything is here, with 1 when \
            some items stay.

            Example:
              vauban adopt
              vauban adopt --delete-source
            """)

    @Flag(help: "Delete the old keychain, once all its items are here, without asking.")
    var deleteSource = false

    @Option(
        name: .customLong("source-passcode-fd"),
        help: ArgumentHelp("Read the old keychain's passcode, one line, from this file descriptor.", valueName: "n"))
    var sourcePasscodeDescriptor: Int32?

    @OptionGroup var user: UserOptions

    func run() throws {
        // Before anything else: for VAUBAN_HOME a session makes the folder.
        let service = try Self.destination()
        let home = ServiceEnvironment.ofThisProcess.userHome
        guard let own = OwnKeychain.behind(service) else {
            if let home { try LegacyKeychain.removeRemains(of: home) }
            return say("You have no keychain from user mode\(home.map { " in \(SafeText.visible($0))" } ?? ""): there is nothing to move.")
        }
        let new = try Session(user)
        let old = try LegacyKeychain(own, CommandUser(mayBeAsked: !user.noInput, passcodeDescriptor: sourcePasscodeDescriptor))
        if own.isAdopted {
            say("Everything in \(SafeText.visible(own.home)) was moved, and nothing was written there since.")
        } else {
            try move(old, to: new)
        }
        try end(old, new)
    }

    private static func destination() throws(Refusal) -> Service {
        let service = try Service.current()
        switch service.mode {
        case .system: return service
        case .named: throw Refusal(.notAllowedHere, "VAUBAN_HOME names another keychain; items are moved into the installed service alone")
        case .user: throw Refusal(.notAllowedHere, "Vauban is not installed as a service on this machine, so there is nothing to move to")
        }
    }

    private func move(_ old: LegacyKeychain, to new: Session) throws {
        try old.start()
        try check(old, new)
        try old.open()
        try new.openNow()
        var items = try old.items().sorted(by: Self.precedes)
        say(
            """
            Moving \(count(items.count, "item")) from \(SafeText.visible(old.home)). Nothing changes there; it can be broken off and \
            run again.
            """
        )
        tellWhoIsAsked(items)
        var run = AdoptionRun(from: old.session, to: new, try AdoptionJournal(in: old.folder))
        try run.run(items)
        items = try takeLater(old, &run, items)
        say("\(run.moved) moved, \(run.skipped) here already, \(run.stayed) stay\(run.stayed == 1 ? "s" : "").")
        tellOwners(items.map(\.record))
        try old.close()
        guard run.stayed == 0 else {
            say("The old keychain is left as it is. To look at what stays: VAUBAN_HOME='\(SafeText.visible(old.home))' vauban list")
            throw ExitCode(1)
        }
        try AdoptedItems.keep(items.compactMap { run.adopted[$0.stamp] }, in: old.folder)
        try AdoptionMarker.set(in: old.folder)
    }

    /// Those that ask come last, so that what needs nobody is not held up.
    private static func precedes(_ one: LegacyItem, _ other: LegacyItem) -> Bool {
        let (mine, theirs) = (one.record, other.record)
        return (mine.asks ? 1 : 0, mine.name, mine.owner) < (theirs.asks ? 1 : 0, theirs.name, theirs.owner)
    }

    /// Moves also what a program wrote to the old keychain meanwhile, until nothing new is there; answers what is there then.
    private func takeLater(_ old: LegacyKeychain, _ run: inout AdoptionRun, _ items: [LegacyItem]) throws -> [LegacyItem] {
        var known = Set(items.map(\.stamp))
        for _ in 1...Self.roundsMax {
            let now = try old.items().sorted(by: Self.precedes)
            let later = now.filter { !known.contains($0.stamp) }
            if later.isEmpty { return now }
            say("\(count(later.count, "item")) \(later.count == 1 ? "was" : "were") written to the old keychain meanwhile.")
            try run.run(later)
            known.formUnion(later.map(\.stamp))
        }
        throw Refusal(.unavailable, "a program keeps writing to the old keychain; end it, and run vauban adopt again")
    }

    private static let roundsMax = 5

    private func tellWhoIsAsked(_ items: [LegacyItem]) {
        let asking = items.count { $0.record.asks }
        guard asking > 0 else { return }
        say(
            """
            \(count(asking, "item")) ask\(asking == 1 ? "s" : "") for you: at the old keychain, and then at this one, which compares them. \
            The old one cannot see which program asks: process \(getpid()) is this one. \
            What was compared in an earlier run is not asked for again.
            """)
    }

    /// What must be known before anybody types a passcode.
    private func check(_ old: LegacyKeychain, _ new: Session) throws {
        guard try old.hasPasscode() else { return }
        guard try new.authentication.status().device.passcodeIsSet else {
            throw Refusal(
                .notAllowedHere,
                """
                the old keychain has a passcode and the installed one has none, so the items would be protected less; first run: \
                vauban passcode set
                """
            )
        }
        say(
            """
            The old keychain runs as you, so other programs of yours can learn the passcode that you type for it. If the installed \
            keychain has the same one, change that afterwards: vauban passcode change
            """
        )
    }

    /// Programs look among what is theirs, and this is the user's now.
    private func tellOwners(_ records: [ItemRecord]) {
        let foreign = records.filter { $0.owner != AccessGroup.commandLine }
        guard !foreign.isEmpty else { return }
        say(
            """
            \(count(foreign.count, "item")) kept by programs \(foreign.count == 1 ? "is" : "are") your own now (cli). A program reads \
            one again after: vauban allow PROGRAM ITEM
            """
        )
        let shownMax = 20
        for record in foreign.prefix(shownMax) { say("  \(record.shownWithOwner)") }
        if foreign.count > shownMax { say("  and \(foreign.count - shownMax) more") }
    }

    private func end(_ old: LegacyKeychain, _ new: Session) throws {
        guard try deleteSource || confirms(old) else {
            return say("The old keychain is kept in \(SafeText.visible(old.home)). To delete it: vauban adopt --delete-source")
        }
        try old.delete(movedTo: new)
        say(
            """
            The old keychain is deleted, and its keys with it. A backup of \(SafeText.visible(old.home)), if you have one, still opens \
            with its passcode.
            """
        )
    }

    private func confirms(_ old: LegacyKeychain) throws -> Bool {
        guard let terminal = old.session.user.terminal else { return false }
        terminal.write("Delete the old keychain now? It is deleted only if all its items are here.\n")
        return terminal.readWord("Type delete to delete it (anything else keeps it): ") == "delete"
    }
}
