// The one place where a secret becomes `Data` and comes back: `SecItem…` knows nothing else. What is made here is
// overwritten here; copies that the system's own code makes of it are out of reach.

package import Foundation

extension Secret {
    /// The bytes as `Data` in memory of their own, which is overwritten when the last holder lets go of it.
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

    /// Takes over what a search returned, and overwrites the object in place. It must be fresh from the call, with no other
    /// holder: an object that is shared would lose its bytes for all.
    package init(absorbing data: NSData) {
        self.init(copying: UnsafeRawBufferPointer(start: data.bytes, count: data.length))
        Self.overwrite(UnsafeMutableRawBufferPointer(start: UnsafeMutableRawPointer(mutating: data.bytes), count: data.length))
    }
}
