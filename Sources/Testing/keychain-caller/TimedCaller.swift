// `keychain-caller timed` prints how many microseconds the first request of this process to the service takes, in which it connects and is
// identified, and the second one over the same connection. Before that it sends a query that the library refuses by itself, since the first
// call of a process also initializes Foundation and makes the loader resolve symbols.

import Foundation
import Glibc
import Security

enum TimedCaller {
    private static var query: [CFString: Any] {
        [kSecClass: kSecClassGenericPassword, kSecAttrService: "callers", kSecAttrAccount: "nobody", kSecReturnData: true]
    }

    static func run() -> Never {
        _ = microseconds(query.merging([kSecMatchLimit: -1]) { $1 }, expecting: errSecParam)
        print(microseconds(query, expecting: errSecItemNotFound), microseconds(query, expecting: errSecItemNotFound))
        exit(0)
    }

    private static func microseconds(_ query: [CFString: Any], expecting expected: OSStatus) -> UInt64 {
        let start = now
        guard SecItemCopyMatching(query as CFDictionary, nil) == expected else { exit(1) }
        return (now - start) / 1000
    }

    private static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
