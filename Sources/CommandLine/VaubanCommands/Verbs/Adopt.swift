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
        commandName: "adopt",
        abstract: "Move the keychain that you created in user mode into the installed service.",
        discussion: """
            Moves every item with its attributes and protection; each becomes your own (owner cli). Items that already exist here \
            are compared and left unchanged. You can interrupt it and run it again. The old keychain stays until all items are moved \
            and you confirm its deletion. Exits 0 if every item was moved, 1 if some remain.

            Example:
              vauban adopt --dry-run
              vauban adopt
              vauban adopt --delete-source
            """)

    @Flag(help: "List what would be moved, and change nothing.")
    var dryRun = false

    @Flag(help: "Delete the old keychain without asking, once all its items are here.")
    var deleteSource = false

    @Option(
        name: .customLong("source-passcode-fd"),
        help: ArgumentHelp("Read the old keychain's passcode from this file descriptor (one line).", valueName: "n"))
    var sourcePasscodeDescriptor: Int32?

    @OptionGroup var user: UserOptions

    func validate() throws {
        if dryRun, deleteSource { throw ValidationError("Use --dry-run or --delete-source, not both") }
    }

    func run() throws {
        // This comes first, since a session creates the folder that VAUBAN_HOME names.
        let service = try Self.destination()
        let home = ServiceEnvironment.ofThisProcess.userHome
        guard let own = OwnKeychain.beside(service) else {
            if let home, !dryRun { try LegacyKeychain.removeRemains(of: home) }
            return say("No user-mode keychain to move\(home.map { ": \(SafeText.visible($0)) does not exist" } ?? "").")
        }
        let new = try ServiceClient(user)
        let old = try LegacyKeychain(own, CommandUser(mayBePrompted: !user.noInput, passcodeDescriptor: sourcePasscodeDescriptor))
        if own.isAdopted {
            say("All items in \(SafeText.visible(own.home)) are already moved.")
        } else {
            try move(old, to: new)
        }
        if !dryRun { try end(old, new) }
    }

    private static func destination() throws(Refusal) -> Service {
        let service = try Service.current()
        switch service.mode {
        case .system: return service
        case .named:
            throw Refusal(
                .badParameter, "Items move into the installed service only, but VAUBAN_HOME names another keychain; unset it first")
        case .user: throw Refusal(.unavailable, "Vauban is not installed as a service on this machine; install it first")
        }
    }

    private func move(_ old: LegacyKeychain, to new: ServiceClient) throws {
        try old.start()
        try check(old, new)
        try old.open()
        try new.openNow()
        var items = try old.items().sorted(by: Self.precedes)
        if dryRun { return try plan(items, from: old, to: new) }
        say(
            """
            Moving \(count(items.count, "item")) from \(SafeText.visible(old.home)). The old keychain is not changed; you can interrupt \
            this and run it again.
            """
        )
        reportApprovals(items)
        var run = AdoptionRun(from: old.client, to: new, try AdoptionJournal(in: old.folder))
        try run.run(items)
        items = try takeLater(old, run: &run, items: items)
        say("\(run.moved) moved, \(run.skipped) already here, \(run.stayed) not moved.")
        reportNewOwners(items.map(\.record))
        try old.close()
        guard run.stayed == 0 else {
            say("The old keychain is kept. To list what it still holds: VAUBAN_HOME='\(SafeText.visible(old.home))' vauban list")
            throw ExitCode(1)
        }
        try AdoptedItems.keep(items.compactMap { run.adopted[$0.stamp] }, in: old.folder)
        try AdoptionMarker.set(in: old.folder)
    }

    private func plan(_ items: [LegacyItem], from old: LegacyKeychain, to new: ServiceClient) throws {
        var run = AdoptionRun(from: old.client, to: new, try AdoptionJournal(in: old.folder))
        try run.plan(items)
        try old.close()
        say("\(run.moved) would be moved, \(run.skipped) already here, \(run.stayed) would not be moved. Nothing was changed.")
        if run.stayed > 0 { throw ExitCode(1) }
    }

    /// Whether one item is moved before another: items that need a prompt come last, so that they do not delay the others.
    private static func precedes(_ one: LegacyItem, _ other: LegacyItem) -> Bool {
        let (mine, theirs) = (one.record, other.record)
        return (mine.needsApproval ? 1 : 0, mine.name, mine.owner) < (theirs.needsApproval ? 1 : 0, theirs.name, theirs.owner)
    }

    /// Also moves the items that programs write to the old keychain in the meantime, until nothing new is found. Returns the items of the
    /// old keychain then.
    private func takeLater(_ old: LegacyKeychain, run: inout AdoptionRun, items: [LegacyItem]) throws -> [LegacyItem] {
        var known = Set(items.map(\.stamp))
        for _ in 1...Self.roundsMax {
            let now = try old.items().sorted(by: Self.precedes)
            let later = now.filter { !known.contains($0.stamp) }
            if later.isEmpty { return now }
            say("\(count(later.count, "item")) \(later.count == 1 ? "was" : "were") added to the old keychain in the meantime.")
            try run.run(later)
            known.formUnion(later.map(\.stamp))
        }
        throw Refusal(.unavailable, "A program keeps writing to the old keychain; quit that program, then run vauban adopt again")
    }

    private static let roundsMax = 5

    private func reportApprovals(_ items: [LegacyItem]) {
        let asking = items.count { $0.record.needsApproval }
        guard asking > 0 else { return }
        say(
            """
            \(count(asking, "item")) need\(asking == 1 ? "s" : "") your approval twice: once to read the old keychain and once to \
            compare the result. The old keychain cannot name this program; it is process \(getpid()). \
            Items compared in an earlier run are not asked for again.
            """)
    }

    /// Checks the preconditions before the user types a passcode.
    private func check(_ old: LegacyKeychain, _ new: ServiceClient) throws {
        guard try old.hasPasscode() else { return }
        guard try new.authentication.status().device.passcodeIsSet else {
            throw Refusal(
                .notAllowedHere,
                """
                The old keychain has a passcode and the installed one has none; set one first: vauban passcode set
                """
            )
        }
        say(
            """
            The old keychain runs as you, so your other programs can read the passcode that you type for it. If the installed \
            keychain has the same passcode, change it afterward: vauban passcode change
            """
        )
    }

    /// Prints the items that their programs will no longer find, since the user owns them now.
    private func reportNewOwners(_ records: [ItemRecord]) {
        let foreign = records.filter { $0.owner != AccessGroup.commandLine }
        guard !foreign.isEmpty else { return }
        say(
            """
            \(count(foreign.count, "item")) that programs stored \(foreign.count == 1 ? "is" : "are") now your own (cli). To let a program \
            read one again: vauban allow PROGRAM ITEM
            """
        )
        let shownMax = 20
        for record in foreign.prefix(shownMax) { say("  \(record.shownWithOwner)") }
        if foreign.count > shownMax { say("  and \(foreign.count - shownMax) more") }
    }

    private func end(_ old: LegacyKeychain, _ new: ServiceClient) throws {
        guard try deleteSource || confirms(old) else {
            return say("The old keychain is still in \(SafeText.visible(old.home)). To delete it: vauban adopt --delete-source")
        }
        try old.delete(movedTo: new)
        say(
            """
            The old keychain and its keys are deleted. A backup of \(SafeText.visible(old.home)), if you have one, still opens with \
            its passcode.
            """
        )
    }

    private func confirms(_ old: LegacyKeychain) throws -> Bool {
        guard let terminal = old.client.user.terminal else { return false }
        terminal.write("Delete the old keychain? It is deleted only if all its items are here.\n")
        return terminal.readWord("Type delete to confirm: ") == "delete"
    }
}
