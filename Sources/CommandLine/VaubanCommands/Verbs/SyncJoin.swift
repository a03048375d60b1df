import ArgumentParser
import VaubanKeychainClient
import VaubanKeychainWire
import VaubanRefusal
import VaubanSecretBytes
import VaubanSyncModel

/// The files that a new device and a member exchange through the folder, in this order, named after the new device. The last two are for
/// joining by a token.
enum JoinFile: String, CaseIterable {
    case commitment = "1"
    case answer = "2"
    case reveal = "3"
    case request = "4"
    case refusal = "5"

    func name(of device: [UInt8]) -> String { name(of: StoredBackupFolder.hex(device)) }

    /// Returns the name for a device in hexadecimal digits.
    func name(of device: String) -> String { "\(device).\(rawValue)" }

    /// Returns the devices that have such a file, as the beginnings of its names.
    func devices(in folder: any SyncCarrier) throws -> [String] {
        try folder.names(in: .join).filter { $0.hasSuffix(".\(rawValue)") && Self.isName($0) }.map { String($0.dropLast(2)) }
    }

    static func isName(_ name: String) -> Bool {
        let device = name.dropLast(2)
        return Self(rawValue: String(name.suffix(1))) != nil && name.dropLast().last == "."
            && device.utf8.count == 2 * CircleRequest.deviceBytes && device.allSatisfy { $0.isHexDigit && !$0.isUppercase }
    }

    static func removeAll(of device: String, in folder: any SyncCarrier) {
        for file in allCases { folder.remove(file.name(of: device), in: .join) }
    }
}

/// Checks what the user types about a device on the command line.
enum SyncArguments {
    static func validate(name: String? = nil, code: String? = nil) throws {
        if let name, !(1...CircleRequest.nameBytesMax).contains(name.utf8.count) {
            throw ValidationError("The name of a device must be 1 to \(CircleRequest.nameBytesMax) bytes")
        }
        if let code, code.utf8.count > CircleRequest.codeBytesMax { throw ValidationError("A code has six digits, such as '123 456'") }
    }
}

struct SyncJoin: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "join",
        abstract: "Ask to join the circle of a folder with this device.",
        discussion: """
            Joining takes turns with vauban sync approve on a device of the circle. Run both until each has shown a code, and type each \
            code at the other device. The codes prove that nobody who can change the folder stands between the devices. With a token \
            of vauban sync token no code is needed: this device asks for your approval once, and is a companion after the next vauban \
            sync of the device that made the token and then of this one. With the circle's recovery key (vauban sync recovery) no other \
            device is needed: this one joins at once, if you approve, and the key is void.

            Example:
              vauban sync join ~/Shared/keychain            1. here
              vauban sync approve                           2. on the other device
              vauban sync join ~/Shared/keychain            3. here: shows a code
              vauban sync approve '123 456'                 4. there: shows another
              vauban sync join ~/Shared/keychain '654 321'  5. here
              vauban sync join ~/Shared/keychain --token-file token   on a server
              vauban sync join ~/Shared/keychain --recovery-key       when no other device is at hand
            """)

    @Argument(help: ArgumentHelp("The folder that your devices share, or etcd:ACCOUNT.", valueName: "folder"), completion: .directory)
    var folder: String

    @Argument(help: ArgumentHelp("The code that the other device shows.", valueName: "code"))
    var code: String?

    @Option(help: "The name by which the other devices know this one.")
    var name: String?

    @Option(help: ArgumentHelp("The file with a token of vauban sync token, or -.", valueName: "file"), completion: .file())
    var tokenFile: String?

    @Flag(help: "Join by the circle's recovery key, which Vauban asks for.")
    var recoveryKey = false

    @Option(
        name: .customLong("recovery-key-fd"),
        help: ArgumentHelp("Read the circle's recovery key from this file descriptor (one line).", valueName: "n"))
    var keyDescriptor: Int32?

    @OptionGroup var user: UserOptions

    private var isRecovering: Bool { recoveryKey || keyDescriptor != nil }

    func validate() throws {
        try SyncArguments.validate(name: name, code: code)
        if isRecovering, code != nil || tokenFile != nil { throw ValidationError("Use --recovery-key without a code or --token-file") }
        if tokenFile != nil, code != nil || name != nil { throw ValidationError("Use --token-file without a code or --name") }
    }

    func run() throws {
        let client = try ServiceClient(user)
        try client.openNow()
        let home = try SyncHome(client.service)
        guard try home.hasCircleOrRequest(client) else {
            if isRecovering { return try recover(client, home) }
            guard let tokenFile else { return try ask(client, home) }
            return try redeem(try JoinTokenText.read(tokenFile), client: client, home: home)
        }
        guard tokenFile == nil, !isRecovering else {
            throw Refusal(
                .badParameter,
                "This device is in a circle already, or waits to join one. To leave it, so that you can join another: vauban sync leave")
        }
        var circle = try SyncCircle(client, home, at: try SyncPlace.existing(folder))
        guard circle.view.circle == nil else {
            throw Refusal(.badParameter, "This device is in a circle already; see: vauban sync status")
        }
        try home.keep(circle.folder)
        if let sponsor = circle.view.sponsor {
            guard code == nil else { throw Refusal(.badParameter, "This device joins by a token, which needs no code") }
            guard try circle.enterByToken() else { return say("Waiting until \(SafeText.visible(sponsor.name)) has run vauban sync.") }
            return Sync.synchronizeAfterChange(circle)
        }
        if let code { return try enter(&circle, code) }
        let device = circle.view.device
        guard let answer = try circle.folder.read(JoinFile.answer.name(of: device), in: .join),
            (1...CircleRequest.documentBytesMax).contains(answer.count)
        else {
            // The request is the same each time; it may not have reached the folder.
            let request = try circle.perform(.apply(name: SyncHome.deviceName)).document ?? []
            try circle.folder.replace(request, named: JoinFile.commitment.name(of: device), in: .join)
            return say("Waiting. On a device of the circle, run: vauban sync approve. Then run this again.")
        }
        let reply = try circle.perform(.reveal(answer: answer))
        try circle.folder.replace(reply.document ?? [], named: JoinFile.reveal.name(of: device), in: .join)
        print(reply.code ?? "")
        say(
            """
            Type this code on the other device: vauban sync approve '\(reply.code ?? "")'. Then type the code that it shows \
            here: vauban sync join \(SafeText.visible(folder)) 'CODE'
            """)
    }

    private func ask(_ client: ServiceClient, _ home: SyncHome) throws {
        guard code == nil else { throw Refusal(.badParameter, "This device has not asked to join; first run it without a code") }
        let place = try placeOfCircle()
        home.forget()
        try home.keep(place)
        let reply = try client.keychain.circle(.apply(name: name ?? SyncHome.deviceName)).reply
        try place.replace(reply.document ?? [], named: JoinFile.commitment.name(of: reply.view.device), in: .join)
        say("Asked to join. On a device of the circle, run: vauban sync approve. Then run this again.")
    }

    /// Asks to join by a token; no user has to answer on another device.
    private func redeem(_ token: borrowing JoinTokenText, client: ServiceClient, home: SyncHome) throws {
        let place = try placeOfCircle()
        home.forget()
        try home.keep(place)
        let (encoded, content) = (token.encoded, token.content)
        let seed: SecretBytes? = token.seed.duplicate()
        let reply = try client.withPrompts { try client.keychain.redeem(encoded, seed: seed, waiting: $0) }
        try place.replace(reply.document ?? [], named: JoinFile.request.name(of: reply.view.device), in: .join)
        say(
            """
            Asked to join by the token, as \(SafeText.visible(content.name)). \
            \(SafeText.visible(content.member.name)) admits this device when it runs vauban sync; then run vauban sync here.
            """)
    }

    /// Joins by the recovery key; no user has to answer on another device.
    private func recover(_ client: ServiceClient, _ home: SyncHome) throws {
        let place = try placeOfCircle()
        let key = try RecoveryKeyInput.read(keyDescriptor, client, options: "--recovery-key-fd N")
        let joining = RecoveryJoining(client: client, home: home, place: place)
        Sync.synchronizeAfterChange(try joining.join(with: key, name: name ?? SyncHome.deviceName))
    }

    private func placeOfCircle() throws -> any SyncCarrier {
        let place = try SyncPlace.existing(folder)
        guard try !place.names(in: .circle).isEmpty else {
            throw Refusal(
                .badParameter, "\(SafeText.visible(folder)) has no circle; to start one: vauban sync new \(SafeText.visible(folder))")
        }
        return place
    }

    private func enter(_ circle: inout SyncCircle, _ code: String) throws {
        guard try circle.enter({ .enter(statement: $0, code: code) }) else {
            throw Refusal(
                .badParameter, "Nothing in the folder admits this device yet; run vauban sync approve on the other device with its code")
        }
        try circle.follow()
        Sync.synchronizeAfterChange(circle)
    }
}

struct SyncApprove: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve",
        abstract: "Let another device join the circle.",
        discussion: """
            Without a code, answers the device that asks. With the code that it shows, asks for your approval, admits it, and shows \
            another code to type there. If a code is refused although you typed it as shown, someone stands between the devices. With \
            --companion the device becomes a companion: it receives only the items that you name, here or with vauban sync allow, and \
            changes nothing for the other devices.

            Example:
              vauban sync approve
              vauban sync approve '123 456'
              vauban sync approve '123 456' --companion --item deploy/token
            """)

    @Argument(help: ArgumentHelp("The code that the new device shows.", valueName: "code"))
    var code: String?

    @Option(help: "The beginning of the new device's identifier, if more than one asks.")
    var device: String?

    @Flag(help: "Admit the device as a companion, which receives only the items of its list.")
    var companion = false

    @Option(name: .customLong("item"), parsing: .singleValue, help: ArgumentHelp("An item that the companion receives.", valueName: "item"))
    var items: [String] = []

    @OptionGroup var user: UserOptions

    func validate() throws {
        try SyncArguments.validate(code: code)
        if companion, code == nil { throw ValidationError("--companion requires the code that the new device shows") }
        if !companion, !items.isEmpty { throw ValidationError("--item requires --companion") }
    }

    func run() throws {
        let client = try ServiceClient(user)
        try client.openNow()
        var circle = try SyncCircle(client, try SyncHome(client.service))
        try circle.follow()
        try circle.requireMember()
        try circle.requireWholeCircle()
        let file = code == nil ? JoinFile.commitment : .reveal
        let asking = try one(circle.folder, file, among: circle.view)
        guard let document = try circle.folder.read("\(asking).\(file.rawValue)", in: .join),
            document.count <= CircleRequest.documentBytesMax
        else {
            throw Refusal(
                .badParameter,
                "The join request is incomplete or was altered; run vauban sync leave on the new device, then join again")
        }
        guard let code else {
            // The answer to one request is the same each time.
            let answer = try circle.perform(.answer(commitment: document)).document ?? []
            try circle.folder.replace(answer, named: JoinFile.answer.name(of: asking), in: .join)
            return say("Answered the device \(asking.prefix(8)). Run vauban sync join there again, and type here the code that it shows.")
        }
        let reply =
            companion
            ? try circle.change(.admit(reveal: document, code: code), rows: try circle.rows(called: items))
            : try circle.change(.approve(reveal: document, code: code))
        print(reply.code ?? "")
        say(
            "Admitted\(companion ? " as a companion" : ""). Type this code on the new device: vauban sync join FOLDER '\(reply.code ?? "")'"
        )
        Sync.synchronizeAfterChange(circle)
    }

    /// Returns the one device that asks.
    private func one(_ folder: any SyncCarrier, _ file: JoinFile, among view: CircleView) throws -> String {
        let members = Set((view.members + view.companions.map(\.device)).map { StoredBackupFolder.hex($0.device) })
        var all = try file.devices(in: folder).filter { name in device.map { name.hasPrefix($0) } ?? true }
        // A device that was just admitted may ask for its code again.
        if file == .commitment || all.count > 1 { all.removeAll { members.contains($0) } }
        guard let first = all.first else {
            let way = file == .commitment ? "run vauban sync join there first" : "run vauban sync join there again; it shows a code"
            throw Refusal(.badParameter, "No device asks to join; \(way)")
        }
        let shown = all.prefix(10).map { SafeText.visible(String($0.prefix(8))) }.joined(separator: ", ")
        guard all.count == 1 else {
            throw Refusal(
                .badParameter,
                "More than one device asks; choose one with --device: \(shown)"
            )
        }
        return first
    }
}
