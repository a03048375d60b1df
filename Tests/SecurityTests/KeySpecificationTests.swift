// Compares Specs/key-algorithms.md with the code.

import Foundation
import Security
import Testing

@Suite struct KeySpecificationTests {
    private let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    @Test("The algorithms that Specs/key-algorithms.md lists as unsupported are the ones that no key supports")
    func listedAlgorithmsAreTheUnsupportedOnes() throws {
        let specification = try String(contentsOf: root.appendingPathComponent("Specs/key-algorithms.md"), encoding: .utf8)
        let refused = Set(specification.split(separator: "\n").filter { $0.hasPrefix("algid:") }.map(String.init))
        let source = try String(
            contentsOf: root.appendingPathComponent("Sources/Callers/VaubanSecurity/Keys/SecKeyAlgorithm.swift"), encoding: .utf8)
        let names = source.split(separator: "\"").filter { $0.hasPrefix("algid:") }.map(String.init)
        #expect(names.count > 80 && Set(names).count == names.count && refused.isSubset(of: names))
        var keys: [SecKey] = []
        for (type, bits) in [(kSecAttrKeyTypeECSECPrimeRandom, 256), (kSecAttrKeyTypeRSA, 2048)] {
            let key = try #require(SecKeyCreateRandomKey([kSecAttrKeyType: type, kSecAttrKeySizeInBits: bits] as CFDictionary, nil))
            let publicKey = try #require(SecKeyCopyPublicKey(key))
            keys += [key, publicKey]
        }
        for name in names {
            let algorithm = SecKeyAlgorithm(rawValue: NSString(string: name))
            let isDone = [SecKeyOperationType.sign, .verify, .encrypt, .decrypt, .keyExchange].contains { operation in
                keys.contains { SecKeyIsAlgorithmSupported($0, operation, algorithm) }
            }
            #expect(isDone == !refused.contains(name), "\(name)")
        }
    }
}
