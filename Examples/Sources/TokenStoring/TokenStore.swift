import Foundation
import Security

/// A token of an account in the keychain. Each call returns a status, which the caller must check.
public struct TokenStore: Sendable {
    private let serviceIdentifier: String
    private let accountName: String

    public init(service: String, account: String) {
        serviceIdentifier = service
        accountName = account
    }

    /// Saves a token that can be read only after the user has authenticated.
    public func save(token: String) -> OSStatus {
        guard let data = token.data(using: .utf8) else { return errSecParam }

        // Rather than update, just delete and continue
        let deleted = delete()
        guard deleted == errSecSuccess || deleted == errSecItemNotFound else { return deleted }

        // Create the appropriate access controls
        var error: Unmanaged<CFError>?
        guard
            let accessControl = SecAccessControlCreateWithFlags(
                kCFAllocatorDefault, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, .userPresence, &error)
        else { return error.map { OSStatus(CFErrorGetCode($0.takeRetainedValue())) } ?? errSecParam }

        let keyChainQuery: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: serviceIdentifier,
            kSecAttrAccount as String: accountName,
            kSecValueData as String: data,
            kSecAttrAccessControl as String: accessControl,
        ]
        return SecItemAdd(keyChainQuery as CFDictionary, nil)
    }

    /// Saves a token that can be read without a prompt.
    public func savePlain(token: String) -> OSStatus {
        guard let data = token.data(using: .utf8) else { return errSecParam }

        // Rather than update, just delete and continue
        let deleted = delete()
        guard deleted == errSecSuccess || deleted == errSecItemNotFound else { return deleted }

        let keyChainQuery: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: serviceIdentifier,
            kSecAttrAccount as String: accountName,
            kSecValueData as String: data,
        ]
        return SecItemAdd(keyChainQuery as CFDictionary, nil)
    }

    /// Reads the token, however it was saved. If the user must authenticate, the call waits for them.
    public func load() -> (token: String?, status: OSStatus) {
        let keyChainQuery: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: serviceIdentifier,
            kSecAttrAccount as String: accountName,
            kSecReturnData as String: true,
            kSecMatchLimit as String: kSecMatchLimitOne,
            kSecUseOperationPrompt as String: "Authenticate to retrieve your secret!",
        ]

        var extractedData: AnyObject?
        let status = SecItemCopyMatching(keyChainQuery as CFDictionary, &extractedData)

        // Convert the data retrieved from the keychain into a string
        guard status == errSecSuccess, let retrievedData = extractedData as? Data else { return (nil, status) }
        return (String(data: retrievedData, encoding: .utf8), status)
    }

    /// Returns whether there is a token. Without kSecReturnData, the value is not returned.
    public func exists() -> OSStatus {
        SecItemCopyMatching(identity as CFDictionary, nil)
    }

    public func delete() -> OSStatus {
        SecItemDelete(identity as CFDictionary)
    }

    private var identity: [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: serviceIdentifier,
            kSecAttrAccount as String: accountName,
        ]
    }
}

/// Returns the message for a status.
public func words(for status: OSStatus) -> String {
    SecCopyErrorMessageString(status, nil).map { $0 as String } ?? "no words for it"
}
