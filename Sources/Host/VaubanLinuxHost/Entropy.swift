internal import CVaubanLinux
package import VaubanSecretBytes

/// The kernel's random bytes.
package enum Entropy {
    package static func bytes(_ count: Int) throws(SystemFault) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        try SystemFault.checkNegated(bytes.withUnsafeMutableBytes { vauban_random($0.baseAddress, $0.count) }, "read random bytes")
        return bytes
    }

    package static func secret(_ count: Int) throws(SystemFault) -> SecretBytes {
        try SecretBytes(count: count) { (target) throws(SystemFault) in
            try SystemFault.checkNegated(vauban_random(target.baseAddress, target.count), "read random bytes")
        }
    }
}
