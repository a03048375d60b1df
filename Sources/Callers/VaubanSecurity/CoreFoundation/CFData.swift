/// Wraps bytes that the caller allocated: Apple's `CFDataCreateWithBytesNoCopy`.
///
/// With `kCFAllocatorNull` the caller still owns the bytes, which must outlive the data. With any other deallocator they must come from
/// `malloc` and are freed together with the data.
public func CFDataCreateWithBytesNoCopy(
    _ allocator: CFAllocator!,
    _ bytes: UnsafePointer<UInt8>!,
    _ length: CFIndex,
    _ bytesDeallocator: CFAllocator!
) -> CFData! {
    guard let bytes, length >= 0 else { return nil }
    return NSData(
        bytesNoCopy: UnsafeMutableRawPointer(mutating: bytes),
        length: length,
        freeWhenDone: bytesDeallocator !== kCFAllocatorNull
    )
}

/// Returns the address of the first byte, valid as long as the data lives: Apple's `CFDataGetBytePtr`.
public func CFDataGetBytePtr(_ theData: CFData!) -> UnsafePointer<UInt8>! {
    guard let theData, theData.length > 0 else { return nil }
    return theData.bytes.assumingMemoryBound(to: UInt8.self)
}

/// Returns the number of bytes: Apple's `CFDataGetLength`.
public func CFDataGetLength(_ theData: CFData!) -> CFIndex {
    theData?.length ?? 0
}
