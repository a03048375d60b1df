// Items and calls with an LAContext, for the tests of contexts.

import Foundation
import LocalAuthentication
import Security
import Synchronization
import Testing

protocol ContextFixture: Sendable {
    var service: String { get }
}

extension ContextFixture {
    func control(_ flags: SecAccessControlCreateFlags) throws -> SecAccessControl {
        try #require(SecAccessControlCreateWithFlags(kCFAllocatorDefault, kSecAttrAccessibleWhenUnlocked, flags, nil))
    }

    func add(_ account: String, flags: SecAccessControlCreateFlags, password: String? = nil) throws {
        let context = LAContext()
        if let password { #expect(context.setCredential(Data(password.utf8), type: .applicationPassword)) }
        let item: [String: Any] = [
            kSecUseAuthenticationContext as String: context,
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service, kSecAttrAccount as String: account,
            kSecValueData as String: Data("of \(account)".utf8), kSecAttrAccessControl as String: try control(flags),
        ]
        #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
    }

    func query(_ account: String, _ context: LAContext?) -> [String: Any] {
        var query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service, kSecAttrAccount as String: account,
        ]
        query[kSecUseAuthenticationContext as String] = context
        return query
    }

    func read(_ account: String, _ context: LAContext?) -> OSStatus {
        var result: AnyObject?
        let asked = query(account, context).merging([kSecReturnData as String: true]) { $1 }
        let status = SecItemCopyMatching(asked as CFDictionary, &result)
        if status == errSecSuccess { #expect((result as? Data).map { String(decoding: $0, as: UTF8.self) } == "of \(account)") }
        return status
    }

    func code(_ body: () async throws -> Bool) async -> LAError.Code? {
        do {
            _ = try await body()
            return nil
        } catch {
            return (error as? LAError)?.code
        }
    }

    /// Begins an evaluation on a separate thread: while a test itself waits, its task may have no thread to run on.
    func evaluation(_ context: LAContext) -> Running<LAError.Code?> {
        Running {
            let ended = DispatchSemaphore(value: 0)
            let code = Mutex<LAError.Code?>(nil)
            context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "open") { _, error in
                code.withLock { $0 = (error as? LAError)?.code }
                ended.signal()
            }
            ended.wait()
            return code.withLock { $0 }
        }
    }
}
