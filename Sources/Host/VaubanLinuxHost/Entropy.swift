internal import CVaubanLinux
package import VaubanSecretBytes

/// The kernel's random bytes.
package enum Entropy {
    package static func bytes(_ count: Int) throws(SystemError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        try SystemError.checkNegated(bytes.withUnsafeMutableBytes { vauban_random($0.baseAddress, $0.count) }, "read random bytes")
        return bytes
    }

    package static func secret(_ count: Int) throws(SystemError) -> SecretBytes {
        try SecretBytes(count: count) { (target) throws(SystemError) in
            try SystemError.checkNegated(vauban_random(target.baseAddress, target.count), "read random bytes")
        }
    }
}
