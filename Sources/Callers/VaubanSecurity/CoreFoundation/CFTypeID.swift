// Core Foundation assigns type identifiers when a program starts, and callers may only compare an identifier with the result of another
// `GetTypeID` function. So the identifiers below have no further meaning.

/// An object whose class has its own type identifier. The `Sec` classes conform, so that, for example, `CFGetTypeID(_:)` and
/// `SecKeyGetTypeID()` agree. They use identifiers from 256 upward; those below belong to Core Foundation.
package protocol CFTypeNumbered: AnyObject {
    static var typeID: CFTypeID { get }
}

/// The Core Foundation classes that this module can distinguish. Zero means "unknown class".
private enum CFKind: CFTypeID {
    case string = 1, data, number, boolean, date, array, dictionary, set, error, url

    init?(_ object: AnyObject) {
        switch object {
        case is NSError: self = .error
        case is NSString: self = .string
        case is NSData: self = .data
        case let number as NSNumber: self = number.isBoolean ? .boolean : .number
        case is NSDate: self = .date
        case is NSArray: self = .array
        case is NSDictionary: self = .dictionary
        case is NSSet: self = .set
        case is NSURL: self = .url
        default: return nil
        }
    }
}

extension NSNumber {
    /// Whether the number is a Boolean, for which Foundation has two constant objects.
    fileprivate var isBoolean: Bool {
        self === kCFBooleanTrue || self === kCFBooleanFalse
    }
}

/// Returns the type identifier of an object; zero for nil and for unknown classes: Apple's `CFGetTypeID`.
public func CFGetTypeID(_ cf: CFTypeRef!) -> CFTypeID {
    guard let cf else { return 0 }
    if let numbered = cf as? any CFTypeNumbered { return type(of: numbered).typeID }
    return CFKind(cf)?.rawValue ?? 0
}

/// Returns the type identifier of `CFString`: Apple's `CFStringGetTypeID`.
public func CFStringGetTypeID() -> CFTypeID { CFKind.string.rawValue }

/// Returns the type identifier of `CFData`: Apple's `CFDataGetTypeID`.
public func CFDataGetTypeID() -> CFTypeID { CFKind.data.rawValue }

/// Returns the type identifier of `CFNumber`, which differs from that of `CFBoolean`: Apple's `CFNumberGetTypeID`.
public func CFNumberGetTypeID() -> CFTypeID { CFKind.number.rawValue }

/// Returns the type identifier of `CFBoolean`: Apple's `CFBooleanGetTypeID`.
public func CFBooleanGetTypeID() -> CFTypeID { CFKind.boolean.rawValue }

/// Returns the type identifier of `CFDate`: Apple's `CFDateGetTypeID`.
public func CFDateGetTypeID() -> CFTypeID { CFKind.date.rawValue }

/// Returns the type identifier of `CFArray`: Apple's `CFArrayGetTypeID`.
public func CFArrayGetTypeID() -> CFTypeID { CFKind.array.rawValue }

/// Returns the type identifier of `CFDictionary`: Apple's `CFDictionaryGetTypeID`.
public func CFDictionaryGetTypeID() -> CFTypeID { CFKind.dictionary.rawValue }

/// Returns the type identifier of `CFSet`: Apple's `CFSetGetTypeID`.
public func CFSetGetTypeID() -> CFTypeID { CFKind.set.rawValue }

/// Returns the type identifier of `CFError`: Apple's `CFErrorGetTypeID`.
public func CFErrorGetTypeID() -> CFTypeID { CFKind.error.rawValue }

/// Returns the type identifier of `CFURL`: Apple's `CFURLGetTypeID`.
public func CFURLGetTypeID() -> CFTypeID { CFKind.url.rawValue }
