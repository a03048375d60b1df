import Foundation
import Glibc
import SecretService
import TestSupport
import Testing
import VaubanDER
import VaubanLinuxHost
import VaubanSecretBytes

/// The vectors of connections, and of the files that clients, rooms and launchers share.
@Suite struct FormatVectorTests {
    @Test("Frames are received or refused as the vectors say") func frames() throws {
        try FormatVectors("frames").check { vector in
            let pair = try SocketPair()
            let raw = RawPeer(socket: pair.first)
            let channel = try Channel(socket: pair.second, expecting: .process(pid: getpid(), uid: geteuid()))
            try raw.send(vector.content)
            raw.finish()
            var message = try channel.receive(.machine)
            return [
                "header": hexadecimal(message.header), "secret": hexadecimal(bytes(message.takeSecret()) ?? []),
            ]
        }
    }

    @Test("Hello and greeting are decoded or refused as the vectors say") func greetings() throws {
        try FormatVectors("greetings").check { vector in
            guard try vector.given("message") == "Greeting" else {
                return ["nonce": hexadecimal(try Hello(derBytes: vector.content).nonce)]
            }
            let greeting = try Greeting(derBytes: vector.content)
            return ["nonce": hexadecimal(greeting.nonce), "role": "\(greeting.role)"]
        }
    }

    @Test("Holder files are parsed or refused as the vectors say") func holders() throws {
        try FormatVectors("holder").check { vector in
            StateHolder(text: Self.text(vector)).map { ["uid": "\($0.uid)", "name": $0.name] }
        }
    }

    @Test("Lines of root's list of uids are parsed or refused as the vectors say") func uids() throws {
        try FormatVectors("uids").check { vector in
            let ranges = UIDRanges(allowed: vector.content, numbers: ["anna": 1000])
            guard let line = ranges.lines.first else { return nil }
            return ["first": "\(line.uids.lowerBound)", "last": "\(line.uids.upperBound)", "owner": line.owner.map { "\($0)" } ?? "each"]
        }
    }

    @Test("The list of rooms is parsed or refused as the vectors say") func rooms() throws {
        try FormatVectors("rooms").check { vector in
            let roster = try Roster(text: Self.text(vector))
            return RoomName.allCases.reduce(into: [:]) { found, room in
                if let uid = try? roster.uid(of: room) { found[room.rawValue] = "\(uid)" }
            }
        }
    }

    @Test("The file that names the launcher is parsed or refused as the vectors say") func serviceFiles() throws {
        let home = try TestFolder()
        try FormatVectors("service-file").check { vector in
            try Data(vector.content).write(to: URL(fileURLWithPath: "\(home.path)/\(ServiceFile.name)"))
            return ServiceFile.launcher(home: home.path).map { ["launcher": $0] }
        }
    }

    @Test("The launcher's record is parsed or refused as the vectors say") func launcherRecords() throws {
        try FormatVectors("launcher-record").check { vector in
            LauncherRecord(text: Self.text(vector)).map { record in
                ["pid": "\(record.pid)", "start": record.start, "sockets": record.sockets, "ready": record.isReady ? "yes" : "no"]
            }
        }
    }

    @Test("Maps of KWallet are converted to JSON and back, or refused, as the vectors say") func walletMaps() throws {
        try FormatVectors("wallet-maps").check { vector in
            guard let json = WalletMap.json(of: SecretBytes(copying: vector.content)) else { return nil }
            // A map that was never written to is stored as an empty one.
            let stream = vector.content.isEmpty ? [0, 0, 0, 0] : vector.content
            #expect(bytes(WalletMap.stream(of: json)) == stream, "\(vector.name)")
            return ["json": String(decoding: bytes(json) ?? [], as: UTF8.self)]
        }
    }

    private static func text(_ vector: FormatVectors.Vector) -> String { String(decoding: vector.content, as: UTF8.self) }
}
