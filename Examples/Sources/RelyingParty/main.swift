// A relying party of a second factor: a server, here a folder with its users and the open challenges. It needs no keychain, since it stores
// public keys only.
//
//     RelyingParty FOLDER enroll NAME [ACTION…]           reads a public key from standard input; the user may approve these actions
//     RelyingParty FOLDER ask NAME STATEMENT [SECONDS]   prints a challenge, valid for 120 seconds; the statement begins with an action
//     RelyingParty FOLDER verify                         reads a response from standard input
import Approval
import Foundation
import Security

/// A user's record.
struct CommandUser: Codable {
    let publicKey: Data
    let actions: [String]
}

enum Refusal: String, Error {
    case name = "a name has letters, digits and dashes only"
    case unknownUser = "nobody of this name is enrolled"
    case enrolled = "a user of this name is enrolled already; a new key alone cannot replace the old one"
    case key = "this is no public key over P-256"
    case statement = "the statement cannot be shown on one line"
    case response = "this is no response"
    case notOpen = "no such challenge is open: it was answered already, or never given"
    case expired = "the challenge has expired"
    case signature = "the signature is not this user's over this statement"
    case notAllowed = "it is this user, who may not do that"
}

struct RelyingParty {
    let folder: URL
    static let name = "example.org"
    static let openFor = 120

    private func file(_ kind: String, _ name: String) throws -> URL {
        let isPlain = name.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x61...0x7a).contains($0) || (0x41...0x5a).contains($0) || $0 == 0x2d
        }
        guard isPlain, (1...64).contains(name.utf8.count) else { throw Refusal.name }
        let place = folder.appendingPathComponent(kind)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        return place.appendingPathComponent(name)
    }

    /// Records the public key. Its user must be known by other means, such as a session that began with a password.
    func enroll(_ name: String, publicKey: Data, actions: [String]) throws {
        let place = try file("people", name)
        guard Self.key(publicKey) != nil else { throw Refusal.key }
        let user = try JSONEncoder().encode(CommandUser(publicKey: publicKey, actions: actions))
        do { try user.write(to: place, options: .withoutOverwriting) } catch { throw Refusal.enrolled }
    }

    /// Returns a new challenge, stored until it is answered.
    func ask(_ name: String, _ statement: String, seconds: Int) throws -> Challenge {
        guard FileManager.default.fileExists(atPath: try file("people", name).path) else { throw Refusal.unknownUser }
        var random = SystemRandomNumberGenerator()
        let nonce = (0..<64).map { _ in String(Int.random(in: 0..<16, using: &random), radix: 16) }.joined()
        let expires = Int(Date().timeIntervalSince1970) + seconds
        guard let challenge = Challenge(relyingParty: Self.name, user: name, statement: statement, nonce: nonce, expires: expires) else {
            throw Refusal.statement
        }
        try Data(challenge.line.utf8).write(to: try file("open", nonce), options: .withoutOverwriting)
        return challenge
    }

    /// Returns the approved challenge. A challenge can be answered once, correctly or not.
    func verify(_ line: Data) throws -> Challenge {
        guard let response = try? JSONDecoder().decode(Response.self, from: line) else { throw Refusal.response }
        let open = try file("open", response.nonce)
        // The call that removes the file owns the challenge; of two concurrent calls, only one succeeds.
        guard let challenge = (try? Data(contentsOf: open)).flatMap(Challenge.read), (try? FileManager.default.removeItem(at: open)) != nil
        else {
            throw Refusal.notOpen
        }
        guard Int(Date().timeIntervalSince1970) < challenge.expires else { throw Refusal.expired }

        // Authentication: identifies the user. Verifies the statement that was requested, whatever was shown elsewhere.
        guard let stored = try? Data(contentsOf: try file("people", challenge.user)),
            let user = try? JSONDecoder().decode(CommandUser.self, from: stored),
            let key = Self.key(user.publicKey)
        else { throw Refusal.unknownUser }
        guard
            SecKeyVerifySignature(
                key, .ecdsaSignatureMessageX962SHA256, challenge.signedBytes as CFData, response.signature as CFData, nil)
        else { throw Refusal.signature }

        // Authorization: determines whether the user may do this. It is a separate question that needs the answer to the first.
        let action = challenge.statement.split(separator: " ").first.map(String.init) ?? ""
        guard user.actions.contains(action) else { throw Refusal.notAllowed }
        return challenge
    }

    private static func key(_ bytes: Data) -> SecKey? {
        let attributes: [String: Any] = [
            kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass as String: kSecAttrKeyClassPublic,
            kSecAttrKeySizeInBits as String: 256,
        ]
        guard bytes.count == 65 else { return nil }
        return SecKeyCreateWithData(bytes as CFData, attributes as CFDictionary, nil)
    }
}

func finish(_ text: String, _ code: Int32) -> Never {
    print(text)
    exit(code)
}

let words = Array(CommandLine.arguments.dropFirst())
guard words.count >= 2 else { finish("usage: RelyingParty FOLDER enroll NAME [ACTION…] | ask NAME STATEMENT [SECONDS] | verify", 64) }
let party = RelyingParty(folder: URL(fileURLWithPath: words[0]))
do {
    switch (words[1], words.count) {
    case ("enroll", 3...):
        guard let key = readLine().flatMap({ Data(base64Encoded: $0) }) else { throw Refusal.key }
        try party.enroll(words[2], publicKey: key, actions: Array(words[3...]))
        print("Enrolled: \(words[2])")
    case ("ask", 4), ("ask", 5):
        let seconds = words.count == 5 ? Int(words[4]) : RelyingParty.openFor
        guard let seconds, (0...3600).contains(seconds) else { finish("a challenge is good for 0 to 3600 seconds", 64) }
        print(try party.ask(words[2], words[3], seconds: seconds).line)
    case ("verify", 2):
        guard let line = readLine() else { throw Refusal.response }
        let approved = try party.verify(Data(line.utf8))
        print("Approved by \(approved.user): \(approved.statement)")
    default: finish("usage: RelyingParty FOLDER enroll NAME [ACTION…] | ask NAME STATEMENT [SECONDS] | verify", 64)
    }
} catch let refusal as Refusal {
    finish("Refused: \(refusal.rawValue).", 1)
}
