// The only place where a secret becomes `Data` and back, since `SecItem…` takes nothing else. What is created here is overwritten here;
// copies in the system's code are out of reach.

package import Foundation

extension Secret {
    /// Returns the bytes as `Data` in separate memory, which is overwritten when the last reference to it ends.
    package borrowing func disclosed() -> Data {
        guard count > 0 else { return Data() }
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        withUnsafeBytes { memory.copyMemory(from: $0) }
        guard let base = memory.baseAddress else { return Data() }
        return Data(
            bytesNoCopy: base, count: count,
            deallocator: .custom { base, count in
                let memory = UnsafeMutableRawBufferPointer(start: base, count: count)
                Secret.overwrite(memory)
                memory.deallocate()
            })
    }

    /// Takes over the result of a search, and overwrites the object in place. It must be new and not shared, since every other reference
    /// would lose the bytes.
    package init(absorbing data: NSData) {
        self.init(copying: UnsafeRawBufferPointer(start: data.bytes, count: data.length))
        Self.overwrite(UnsafeMutableRawBufferPointer(start: UnsafeMutableRawPointer(mutating: data.bytes), count: data.length))
    }
}
