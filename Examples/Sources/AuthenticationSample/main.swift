// Authenticates the user first, then reads a password whose item requires no authentication, after "Touch ID and the Keychain". If the user
// is rejected, the stored password is deleted and typed again, so no one is locked out.
//
//     AuthenticationSample check     whether each policy can succeed on this device
//     AuthenticationSample store     the password is one line on standard input
//     AuthenticationSample read      prompts, then prints it
//     AuthenticationSample open      reads it as an application would: a user who is rejected, or prefers to type, types the
//                                    password again, and it is stored
import OwnerGate
import Foundation
import TokenStoring
import LocalAuthentication

let password = TokenStore(service: "org.example.MyService", account: "fooUser")
let gate = Gate()

func finish(_ text: String, _ code: Int32) -> Never {
    print(text)
    exit(code)
}

func check() -> Int32 {
    let policies: [(String, LAPolicy)] = [
        ("biometry", .deviceOwnerAuthenticationWithBiometrics), ("biometry or passcode", .deviceOwnerAuthentication),
    ]
    for (name, policy) in policies {
        print("\(name): \(gate.obstacle(to: policy).map { "no, \($0.code.rawValue): \($0.localizedDescription)" } ?? "yes")")
    }
    return gate.obstacle(to: .deviceOwnerAuthentication) == nil ? 0 : 1
}

func store() -> Int32 {
    guard let line = readLine() else { finish("There is no password on standard input.", 64) }
    let status = password.savePlain(token: line)
    print(status == 0 ? "Stored." : "Not stored. Status code \(status): \(words(for: status))")
    return status == 0 ? 0 : 1
}

/// Starts the authentication and returns at once. The answer ends the program.
func read() {
    if let obstacle = gate.obstacle(to: .deviceOwnerAuthentication) {
        finish("Authentication is not available, \(obstacle.code.rawValue): \(obstacle.localizedDescription)", 1)
    }
    gate.ask("Please authenticate") { answer in
        switch answer {
        case .open:
            let (token, status) = password.load()
            finish(token ?? "There is no password. Status code \(status): \(words(for: status))", token == nil ? 1 : 0)
        case .rejected(let error):
            let status = password.delete()
            let outcome = status == 0 ? "The password was deleted" : "The password was not deleted, status code \(status)"
            finish("\(outcome), since authentication failed, \(error.code.rawValue): \(error.localizedDescription)", 1)
        case .undecided(let error):
            finish("Not authenticated, \(error.code.rawValue): \(error.localizedDescription)", 1)
        }
    }
}

/// Gets the password from the keychain, or else from the user.
func open() {
    guard gate.obstacle(to: .deviceOwnerAuthentication) == nil else { return typeAnew("Nobody can be asked here.") }
    gate.ask("open the mailbox") { answer in
        switch answer {
        case .open:
            let (token, status) = password.load()
            guard let token else { return typeAnew("There is no password yet. Status code \(status)") }
            finish("The mailbox is open: \(token)", 0)
        case .rejected(let error):
            _ = password.delete()
            typeAnew("The stored password is gone, \(error.code.rawValue).")
        case .undecided(let error): finish("The mailbox stays closed, \(error.code.rawValue): \(error.localizedDescription)", 1)
        }
    }
}

func typeAnew(_ why: String) {
    print("\(why) Type the password:")
    guard let line = readLine() else { finish("The mailbox stays closed.", 1) }
    let status = password.savePlain(token: line)
    finish(status == 0 ? "The mailbox is open: \(line)" : "Not stored. Status code \(status): \(words(for: status))", status == 0 ? 0 : 1)
}

switch CommandLine.arguments.dropFirst().first {
case "check": exit(check())
case "store": exit(store())
case "read":
    read()
    dispatchMain()
case "open":
    open()
    dispatchMain()
default: finish("usage: AuthenticationSample check|store|read|open", 64)
}
