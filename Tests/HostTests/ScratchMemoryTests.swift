import CVaubanProbe
import Crypto
import Testing
import VaubanRoomHardening

/// AES-GCM leaves its first round key, which is the first half of the key, in a vector register. The dynamic loader saves these registers
/// on the stack when it resolves a function.
@Suite struct ScratchMemoryTests {
    /// Returns whether the first half of a key is in a vector register after the key sealed a text and `scrub` ran.
    private func isKeyLeft(after scrub: () -> Void) throws -> Bool {
        let key = SymmetricKey(size: .bits256)
        let bytes = key.withUnsafeBytes(Array.init)
        return try bytes.withUnsafeBytes { bytes in
            _ = try AES.GCM.seal([UInt8](repeating: 0, count: 4096), using: key)
            scrub()
            return vauban_probe_registers_hold(bytes.baseAddress) == 1
        }
    }

    @Test("Scrubbing the stack leaves no part of a key in the vector registers") func scrubClearsVectorRegisters() throws {
        // Whether the cipher leaves its key depends on the instructions that the processor has.
        print("without a scrub, a key is left in a vector register: \(try isKeyLeft {})")
        #expect(try !isKeyLeft { ScratchMemory.scrubStack() })
    }
}
