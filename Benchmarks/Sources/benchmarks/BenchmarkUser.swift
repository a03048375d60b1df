import Foundation
import LocalAuthentication
import Security

/// Measures how long a user waits, from the application's side: consecutive calls that prompt. `Benchmarks/run --user` simulates the user.
/// Times are CLOCK_MONOTONIC in nanoseconds, so that they can be compared with those of other processes.
enum BenchmarkUser {
    private static let index = 0

    private static func query(_ context: LAContext? = nil) -> CFDictionary {
        var query = Items.identity(index)
        query[kSecReturnData as String] = true
        query[kSecUseAuthenticationContext as String] = context
        return query as CFDictionary
    }

    static func guardItem() throws {
        var item = Items.identity(index)
        item[kSecValueData as String] = Items.secret(index)
        item[kSecAttrAccessControl as String] = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil)
        let status = SecItemAdd(item as CFDictionary, nil)
        guard status == errSecSuccess || status == errSecDuplicateItem else { throw Failure("the item cannot be kept: \(status)") }
    }

    /// Reads the item repeatedly, and prints when it received each value.
    static func read(_ count: Int) throws {
        for _ in 0..<count {
            var result: CFTypeRef?
            let status = SecItemCopyMatching(query(), &result)
            let now = Samples.now
            guard status == errSecSuccess, result as? Data == Items.secret(index) else { throw Failure("it was not read: \(status)") }
            print(now)
        }
    }

    /// Prompts repeatedly, and cancels each prompt once the output of `eyes` on standard input shows that it was drawn. Prints how long the
    /// window took to be mapped and to be drawn.
    static func ask(_ count: Int) throws {
        for _ in 0..<count {
            let context = LAContext()
            let ended = DispatchSemaphore(value: 0)
            let began = Samples.now
            DispatchQueue.global().async {
                _ = SecItemCopyMatching(query(context), nil)
                ended.signal()
            }
            let mapped = try seen("mapped")
            let drawn = try seen("drawn")
            context.invalidate()
            ended.wait()
            _ = try seen("gone")
            print(mapped - began, drawn - began)
        }
    }

    private static func seen(_ what: String) throws -> UInt64 {
        let words = readLine()?.split(separator: " ") ?? []
        guard words.count == 2, words[0] == what, let when = UInt64(words[1]) else { throw Failure("not \(what), but \(words)") }
        return when
    }
}
