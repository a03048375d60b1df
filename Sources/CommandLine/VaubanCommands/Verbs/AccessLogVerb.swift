import ArgumentParser
import Foundation
import Glibc
import VaubanKeychainClient
import VaubanKeychainWire
import VaubanLogHead
import VaubanRefusal
import VaubanSecretBytes
import VaubanSignedNote

struct AccessLogVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Show which program used which item, and when.",
        discussion: """
            Shows reads of secrets, changes and refusals of your own items, the newest last, never a secret. --all-owners also shows \
            the items of other programs, after your approval. Needs an unlocked keychain. In user mode programs are not distinguished. \
            Exits 1 if records are missing or were altered, or uses could not be recorded.

            --head prints the end of the log, signed; keep it where nobody who can change this machine can change it. --verify checks \
            later that the log still contains it, and exits 1 if not: an earlier state of the machine may have been put back.

            Example:
              vauban log
              vauban log github/anna --action read
              vauban log --all-owners --program firefox --since 2d
              vauban log --refused --json
              vauban log --follow
              vauban log --head >/media/stick/log-head
              vauban log --verify /media/stick/log-head
              vauban log --head --cosigned
            """)

    private static let limitUsually = 50

    @Argument(help: ArgumentHelp("Show only this item, or the items of this service.", valueName: "name"))
    var name: String?

    @Option(help: ArgumentHelp("Show only programs whose path or name contains this text.", valueName: "text"))
    var program: String?

    @Option(help: "Show only uses with this action.")
    var action: AccessAction?

    @Flag(help: "Show only refused uses.")
    var refused = false

    @Flag(help: "Show only uses of canary items.")
    var canary = false

    @Option(
        help: ArgumentHelp(
            "Show only uses since this time: 2d for the last two days, 2026-01-01, 2026-01-01T00:00:00Z, or seconds since 1970.",
            valueName: "time"),
        transform: { try AccessLogVerb.moment($0) })
    var since: Int64?

    @Option(help: ArgumentHelp("Show at most this many uses.", valueName: "number"))
    var limit = limitUsually

    @Flag(help: "Show the items of all owners.")
    var allOwners = false

    @Flag(help: "Keep showing uses as they happen, until Ctrl-C.")
    var follow = false

    @Flag(help: "Print the end of the log, signed.")
    var head = false

    @Flag(help: "With --head: print the newest end that other devices of your circle have seen, with their signatures.")
    var cosigned = false

    @Option(
        help: ArgumentHelp("Verify the log, and that it has the end in this file; - for standard input.", valueName: "file"),
        completion: .file())
    var verify: String?

    @Flag(help: "Print JSON, one object on each line.")
    var json = false

    @OptionGroup var user: UserOptions

    func validate() throws {
        if head || verify != nil, selects || (head && verify != nil) || (verify != nil && json) {
            throw ValidationError("Use --head only with --cosigned and --json, and --verify alone")
        }
        if cosigned, !head { throw ValidationError("--cosigned requires --head") }
        guard limit > 0 else { throw ValidationError("--limit must be at least 1") }
        if let since, !(-100_000_000_000...100_000_000_000).contains(since) {
            throw ValidationError("--since is out of range; write seconds since 1970, or for example 2026-01-01T00:00:00Z")
        }
    }

    /// Parses a time: a duration before now, the beginning of a local day, or what `CodeGet` takes. Returns seconds since 1970.
    private static func moment(_ text: String) throws -> Int64 {
        let hasUnit = text.hasSuffix("min") || text.last.map { "smhd".contains($0) } ?? false
        if hasUnit, let ago = try? DurationArgument.seconds(text, unit: 1, max: 1_000 * 366 * 86_400) {
            return Int64(Date().timeIntervalSince1970.rounded(.down)) - ago
        }
        let day = Date.ISO8601FormatStyle(timeZone: .current).year().month().day()
        if text.utf8.count == 10, text.contains("-"), let date = try? day.parse(text) {
            return Int64(date.timeIntervalSince1970.rounded(.down))
        }
        return try CodeGet.seconds(text)
    }

    /// Whether any option selects among the uses in the log.
    private var selects: Bool { hasFilter || allOwners || follow || limit != Self.limitUsually }

    private var filter: AccessLogFilter {
        AccessLogFilter(
            item: name, program: program, action: action, onlyRefused: refused, onlyCanaries: canary,
            since: since.map { ($0 - 978_307_200) * 1_000_000 })
    }

    private var hasFilter: Bool { name != nil || program != nil || action != nil || refused || canary || since != nil }

    func run() throws {
        let client = try ServiceClient(user)
        if head { return try client.withUnlock { try printHead(client) } }
        if let verify { return try client.withUnlock { try verifyLog(client, containing: verify) } }
        let shown = try client.withUnlock {
            try client.withPrompts { waiting in
                try reader(client, waiting).uses(matching: filter, limit: limit, verifies: true)
            }
        }
        try write(shown)
        if shown.uses.isEmpty, !follow { say(hasFilter ? "No use matches. To see all: vauban log" : "The log is empty.") }
        if shown.oldest > 1, shown.uses.count < limit, shown.faults.isEmpty {
            say("The log begins with log record \(shown.oldest): earlier ones were removed, or erased with a keychain.")
        }
        if follow { try client.withPrompts { waiting in try follow(reader(client, waiting), after: shown.lastNumber) } }
        if !shown.faults.isEmpty { throw ExitCode(1) }
    }

    private func printHead(_ client: ServiceClient) throws {
        let own = try client.keychain.logHead().shown
        let head = cosigned ? try SyncCircle(client, try SyncHome(client.service)).cosignedHead(own.keys) : own
        print(json ? try head.json() : head.text, terminator: "")
    }

    private func verifyLog(_ client: ServiceClient, containing file: String) throws {
        let bytes = try InputFile.read(file, max: LogHeadLimits.noteBytesMax).withUnsafeBytes { Array($0) }
        guard let note = SignedNote(bytes) else {
            throw Refusal(.badParameter, "\(SafeText.visible(file)) is not a signed log head; vauban log --head prints one")
        }
        let faults = try client.keychain.accessLogPage(AccessLogQuery(verifies: true)).faults
        for fault in faults { say(fault.sentence) }
        let (head, comparison) = try client.keychain.compare(note)
        say(comparison.sentence(about: head.number))
        if !faults.isEmpty || !comparison.isContained { throw ExitCode(1) }
    }

    private func reader(_ client: ServiceClient, _ waiting: @escaping KeychainClient.Waiting) -> AccessLogReader {
        AccessLogReader(keychain: client.keychain, ofAllOwners: allOwners, waiting: waiting)
    }

    /// Shows uses as they happen, until the process ends. keychaind collects them for about a second.
    private func follow(_ reader: AccessLogReader, after number: Int64) throws {
        var last = number
        var verifies = false
        while true {
            sleep(1)
            let more = try reader.uses(matching: filter, limit: .max, after: last, verifies: verifies)
            try write(more)
            // The log ends earlier than before, or lacks records: verify it with the next page, so that its faults are shown.
            verifies = more.lastNumber != last + more.recordCount
            last = more.lastNumber
        }
    }

    private func write(_ excerpt: AccessLogReader.Excerpt) throws {
        for use in excerpt.uses { print(json ? try use.json() : use.text) }
        fflush(nil)
        for fault in excerpt.faults { say(fault) }
    }
}

extension RecordedUse {
    package var text: String {
        let date = StatusText.time(record.ended)
        let what = [record.action.word, record.outcome.words, item.count > 1 ? "\(item.count) times" : nil, item.isCanary ? "canary" : nil]
            .compactMap(\.self)
        let unnamed = item.isFurther ? "further items" : "an item whose name is unknown"
        let words = [date, name.isEmpty ? unnamed : SafeText.visible(name), what.joined(separator: ", ")]
        return (words + [record.program?.shown, record.startedBy].compactMap { $0.map(SafeText.visible) })
            .joined(separator: isatty(STDOUT_FILENO) == 1 ? "  " : "\t")
    }

    package func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        let program = record.program
        let shown = Shown(
            record: number, first: Date(microseconds: record.began), last: Date(microseconds: record.ended), action: record.action.word,
            outcome: record.outcome.word, count: item.count, item: name, owner: item.owner,
            identity: Data(item.item).base64EncodedString(), program: program?.path, application: program?.application,
            throughCommandLine: program?.throughCommandLine, parents: record.parents.isEmpty ? nil : record.parents,
            canary: item.isCanary ? true : nil)
        return SafeText.json(String(decoding: try encoder.encode(shown), as: UTF8.self))
    }

    private struct Shown: Encodable {
        let record: Int64
        let first: Date
        let last: Date
        let action: String
        let outcome: String
        let count: Int64
        let item: String
        let owner: String
        let identity: String
        let program: String?
        let application: String?
        let throughCommandLine: Bool?
        let parents: [String]?
        let canary: Bool?
    }
}
