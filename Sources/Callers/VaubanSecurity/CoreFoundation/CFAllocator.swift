/// How memory is freed: Apple's `CFAllocator`.
///
/// Swift manages the memory of every object here, so an allocator has no state. Callers only distinguish whether bytes are freed or not, by
/// passing `kCFAllocatorNull` or another allocator.
public final class CFAllocator: Sendable {
    fileprivate init() {}
}

/// The default allocator: Apple's `kCFAllocatorDefault`, which is nil there too.
public let kCFAllocatorDefault: CFAllocator! = nil

/// The allocator that frees nothing: Apple's `kCFAllocatorNull`.
public let kCFAllocatorNull: CFAllocator! = CFAllocator()
