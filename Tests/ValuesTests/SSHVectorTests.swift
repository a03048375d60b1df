import TestSupport
import Testing
import VaubanSSHWire
import VaubanSecretBytes

/// The vectors of `Specs/ssh-agent.md`.
@Suite struct SSHVectorTests {
    @Test("Private keys are read or refused as the vectors say") func privateKeys() throws {
        try FormatVectors("ssh-keys").check { vector in
            let key = SecretBytes(copying: vector.content)
            let found = try key.withUnsafeBytes { bytes throws(SSHError) in try SSHPrivateFields(bytes).publicKey }
            let half =
                switch found.body {
                case .ed25519(let point), .point(let point): point
                case .rsa(_, let modulus): modulus
                }
            return ["type": found.type.rawValue, "public": hexadecimal(half)]
        }
    }

    @Test("Requests to the agent are decoded or refused as the vectors say") func requests() throws {
        try FormatVectors("ssh-agent").check { vector in
            try vector.content.withUnsafeBytes { try Self.fields(of: SSHAgentRequest($0)) }
        }
    }

    private static func fields(of request: SSHAgentRequest) -> [String: String] {
        let digits = { (bytes: [UInt8]) in hexadecimal(bytes) }
        return switch request {
        case .list: ["request": "list"]
        case .sign(let signing):
            ["request": "sign", "key": digits(signing.key), "data": digits(signing.data), "flags": String(signing.flags)]
        case .add(let key):
            [
                "request": "add", "type": key.publicKey.type.rawValue, "comment": key.comment,
                "lifetime": key.constraints.seconds.map(String.init) ?? "", "confirms": key.constraints.needsConfirmation ? "yes" : "no",
                "destinations": key.constraints.isBoundToDestinations ? text(of: key.constraints.destinations) : "any",
            ]
        case .remove(let key): ["request": "remove", "key": digits(key)]
        case .removeAll: ["request": "remove all"]
        case .lock(let passphrase): ["request": "lock", "passphrase": digits(passphrase.octets)]
        case .unlock(let passphrase): ["request": "unlock", "passphrase": digits(passphrase.octets)]
        case .bind(let binding):
            [
                "request": "bind", "hostKey": digits(binding.hostKey), "session": digits(binding.session),
                "signature": digits(binding.signature), "forwarding": binding.isForwarding ? "yes" : "no",
            ]
        case .foreignKey: ["request": "of another agent"]
        case .unsupported: ["request": "unsupported"]
        }
    }

    private static func text(of destinations: [SSHDestination]) -> String {
        destinations.map { "\($0.from.host) > \($0.to.user.isEmpty ? "" : $0.to.user + "@")\($0.to.host)" }.joined(separator: "\n")
    }

    @Test("Times for which answers hold are read or refused as the vectors say") func holds() throws {
        try FormatVectors("ssh-hold").check { vector in SSHHold(stored: vector.content).map { ["seconds": String($0.seconds)] } }
    }

    @Test("The kind of data to sign is recognized, and other data is unknown, as the vectors say") func signedData() throws {
        try FormatVectors("ssh-signed-data").check { vector in
            switch SSHSignedData(vector.content) {
            case .login(let login):
                [
                    "kind": "login", "user": login.user, "session": hexadecimal(login.session),
                    "key": hexadecimal(login.publicKey), "host": hexadecimal(login.hostKey ?? []),
                ]
            case .message(let namespace): ["kind": "message", "namespace": namespace]
            case .certificate: ["kind": "certificate"]
            case .unknown: nil
            }
        }
    }
}

extension SSHPassphrase {
    fileprivate var octets: [UInt8] { bytes.withUnsafeBytes { Array($0) } }
}
