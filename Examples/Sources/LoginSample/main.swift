// Signs in at a server with a password and a one-time token, after "Touch ID and the Keychain": authenticates the user, reads the password
// and the token's secret from the keychain, computes the current token and sends the three to the server. If the finger is rejected, or the
// server rejects the credentials, both items are deleted, and the user types them again.
//
//     LoginSample enroll USERNAME        two lines on standard input: the password, and the text of the server's QR code
//     LoginSample login URL USERNAME     sends {"username", "password", "token"} to the URL as JSON
import Foundation
import LocalAuthentication
import OwnerGate
import TokenStoring

func finish(_ text: String, _ code: Int32) -> Never {
    print(text)
    exit(code)
}

/// The credentials of a user. Neither item has an access control, since this program authenticates the user first.
struct Credentials {
    let password: TokenStore
    let address: TokenStore

    init(username: String) {
        password = TokenStore(service: "org.example.login", account: username)
        address = TokenStore(service: "org.example.login.totp", account: username)
    }

    func delete() -> String {
        let statuses = [password.delete(), address.delete()].filter { $0 != 0 }
        return statuses.isEmpty ? "The stored password and secret were deleted" : "Not all was deleted, status code \(statuses[0])"
    }
}

func enroll(_ credentials: Credentials) -> Never {
    guard let password = readLine(), let address = readLine() else { finish("The password or the QR code's text is missing.", 64) }
    guard OneTimeToken(address: address) != nil else { finish("This is not the text of a QR code for one-time tokens.", 64) }
    for status in [credentials.password.savePlain(token: password), credentials.address.savePlain(token: address)] where status != 0 {
        finish("Not stored. Status code \(status): \(words(for: status))", 1)
    }
    finish("Stored.", 0)
}

/// Starts the login and returns at once. The answers end the program.
func login(at server: LoginServer, as username: String, credentials: Credentials, gate: Gate) {
    let hasFinger = gate.obstacle(to: .deviceOwnerAuthenticationWithBiometrics) == nil
    gate.ask("sign in as \(username)", for: hasFinger ? .deviceOwnerAuthenticationWithBiometrics : .deviceOwnerAuthentication) { answer in
        switch answer {
        case .open: send(to: server, username, credentials)
        case .rejected(let error):
            finish("\(credentials.delete()), since authentication failed, \(error.code.rawValue): \(error.localizedDescription)", 1)
        case .undecided(let error): finish("Not authenticated, \(error.code.rawValue): \(error.localizedDescription)", 1)
        }
    }
}

func send(to server: LoginServer, _ username: String, _ credentials: Credentials) {
    let (password, status) = credentials.password.load()
    guard let password else { finish("There is no password. Status code \(status): \(words(for: status))", 1) }
    guard let address = credentials.address.load().token, let token = OneTimeToken(address: address) else {
        finish("There is no secret for one-time tokens.", 1)
    }
    server.signIn(as: username, password: password, token: token.text(at: Date())) { answer in
        switch answer {
        case .accepted: finish("Signed in as \(username).", 0)
        case .rejected: finish("\(credentials.delete()), since the server rejected them.", 1)
        case .unknown(let why): finish("Not signed in; the stored password and secret are kept: \(why)", 1)
        }
    }
}

let arguments = Array(CommandLine.arguments.dropFirst())
switch (arguments.first, arguments.count) {
case ("enroll", 2): enroll(Credentials(username: arguments[1]))
case ("login", 3):
    guard let server = LoginServer(arguments[1]) else { finish("\(arguments[1]) is not an https:// address.", 64) }
    let gate = Gate()
    login(at: server, as: arguments[2], credentials: Credentials(username: arguments[2]), gate: gate)
    dispatchMain()
default: finish("usage: LoginSample enroll USERNAME | login URL USERNAME", 64)
}
