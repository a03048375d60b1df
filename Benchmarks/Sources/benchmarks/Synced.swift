import Foundation
import Glibc
import Security

/// One synchronizable item that is changed on one device and read on another (`Benchmarks/run --sync`). Each line of standard input is a
/// new value.
enum Synced {
    static let argument = "synced"

    private static var item: [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "org.example.benchmark",
            kSecAttrAccount as String: "synced", kSecAttrSynchronizable as String: true,
        ]
    }

    static func run(_ words: [String]) throws {
        switch words {
        case ["write"]: try write()
        case ["read"]: try read()
        default: throw Failure("synced takes write or read")
        }
    }

    /// Sets the item to each value, and prints when the call began and when it returned, in nanoseconds of the monotonic clock.
    private static func write() throws {
        while let value = readLine() {
            let changes = [kSecValueData as String: Data(value.utf8)]
            let began = Samples.now
            var status = SecItemUpdate(item as CFDictionary, changes as CFDictionary)
            if status == errSecItemNotFound { status = SecItemAdd(item.merging(changes) { $1 } as CFDictionary, nil) }
            guard status == errSecSuccess else { throw Failure("the item cannot be changed: \(status)") }
            print(began, Samples.now)
            fflush(nil)
        }
    }

    /// Reads the item every millisecond until it has the value, and prints when the call that found it returned.
    private static func read() throws {
        while let value = readLine() {
            while true {
                var result: CFTypeRef?
                let query = item.merging([kSecReturnData as String: true]) { $1 }
                let status = SecItemCopyMatching(query as CFDictionary, &result)
                if status == errSecSuccess, result as? Data == Data(value.utf8) { break }
                guard [errSecSuccess, errSecItemNotFound].contains(status) else { throw Failure("the item cannot be read: \(status)") }
                usleep(1000)
            }
            print(Samples.now)
            fflush(nil)
        }
    }
}
