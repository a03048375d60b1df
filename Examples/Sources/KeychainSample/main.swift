// Saves a token in the keychain so that reading it prompts the user, after "iOS8 Day-by-Day, Day 31".
//
//     KeychainSample save          the token is one line on standard input; reading it will prompt
//     KeychainSample save-plain    the same, but reading it will not prompt
//     KeychainSample load          prints it
//     KeychainSample exists        prints whether it exists
//     KeychainSample delete
import Foundation
import TokenStoring
import Security

func finish(_ what: String, _ status: OSStatus) -> Never {
    print(status == errSecSuccess ? "\(what)." : "Not \(what.lowercased()). Status code \(status): \(words(for: status))")
    exit(status == errSecSuccess ? 0 : 1)
}

func tokenFromInput() -> String {
    guard let line = readLine() else {
        print("There is no token on standard input.")
        exit(64)
    }
    return line
}

let store = TokenStore(service: "org.example.TouchyFeely", account: "anna")

switch CommandLine.arguments.dropFirst().first {
case "save": finish("Saved", store.save(token: tokenFromInput()))
case "save-plain": finish("Saved", store.savePlain(token: tokenFromInput()))
case "load":
    let (token, status) = store.load()
    guard let token else {
        print("Nothing was retrieved from the keychain. Status code \(status): \(words(for: status))")
        exit(1)
    }
    print(token)
case "exists": finish("Found", store.exists())
case "delete": finish("Deleted", store.delete())
default:
    print("usage: KeychainSample save|save-plain|load|exists|delete")
    exit(64)
}
