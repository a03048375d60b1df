// `keychain-caller web VERB [SITE] [ACCOUNT] [PASSWORD]` uses shared web credentials through Apple's API. It prints the status of its call,
// followed by the result or the message. A word `-` is nil.

import Foundation
import Security
import Synchronization

struct WebCaller {
    let verb: String
    let site: String?
    let account: String?
    let password: String?

    /// Parses what follows the word `web`; nil is a usage error.
    init?(_ words: [String]) {
        guard let verb = words.first, ["save", "delete", "pick"].contains(verb) else { return nil }
        func word(_ index: Int) -> String? { words.count > index && words[index] != "-" ? words[index] : nil }
        self.verb = verb
        (site, account, password) = (word(1), word(2), word(3))
    }

    static let usage = "keychain-caller web save|delete|pick [SITE|-] [ACCOUNT|-] [PASSWORD]"

    func run() -> Never {
        let said = Mutex("")
        let done = DispatchSemaphore(value: 0)
        if verb == "pick" {
            SecRequestSharedWebCredential(site.map { NSString(string: $0) }, account.map { NSString(string: $0) }) { found, error in
                let text = Self.text(found, error)
                said.withLock { $0 = text }
                done.signal()
            }
        } else {
            let password = verb == "save" ? NSString(string: password ?? "") : nil
            SecAddSharedWebCredential(NSString(string: site ?? ""), NSString(string: account ?? ""), password) { error in
                let text = Self.text(nil, error)
                said.withLock { $0 = text }
                done.signal()
            }
        }
        done.wait()
        print(said.withLock { $0 })
        exit(0)
    }

    private static func text(_ found: CFArray?, _ error: CFError?) -> String {
        if let error { return "\(error.code) \((found?.count).map { "(\($0)) " } ?? "")\(error.localizedDescription)" }
        let shown = (found as? [[String: Any]] ?? []).map { entry in
            let port = (entry[kSecAttrPort as String] as? NSNumber).map { ":\($0)" } ?? ""
            let words = [kSecAttrServer, kSecAttrAccount, kSecSharedPassword].map { entry[$0 as String] as? String ?? "?" }
            return "\(words[0])\(port) \(words[1]) \(words[2])"
        }
        return (["0"] + shown).joined(separator: " ")
    }
}
