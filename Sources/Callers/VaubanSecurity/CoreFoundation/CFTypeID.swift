// Core Foundation numbers its classes when a program starts, and callers may only compare a number
// with the result of another `GetTypeID` function. The numbers below follow that rule and have no
// further meaning.

/// An object whose class has a number of its own. The `Sec` classes conform, so that
/// `CFGetTypeID(_:)` and, for example, `SecKeyGetTypeID()` agree. Numbers from 256 upward are free
/// for them; those below belong to Core Foundation.
package protocol CFTypeNumbered: AnyObject {
    static var typeID: CFTypeID { get }
}

/// The Core Foundation classes that this module can tell apart. Zero means "not a known class".
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
    /// Whether the number was made from a Boolean. Foundation keeps two objects for the Booleans.
    fileprivate var isBoolean: Bool {
        self === kCFBooleanTrue || self === kCFBooleanFalse
    }
}

/// The number of the object's class, or zero for nil and for classes unknown to Core Foundation:
/// Apple's `CFGetTypeID`.
public func CFGetTypeID(_ cf: CFTypeRef!) -> CFTypeID {
    guard let cf else { return 0 }
    if let numbered = cf as? any CFTypeNumbered { return type(of: numbered).typeID }
    return CFKind(cf)?.rawValue ?? 0
}

/// The class number of `CFString`: Apple's `CFStringGetTypeID`.
public func CFStringGetTypeID() -> CFTypeID { CFKind.string.rawValue }

/// The class number of `CFData`: Apple's `CFDataGetTypeID`.
public func CFDataGetTypeID() -> CFTypeID { CFKind.data.rawValue }

/// The class number of `CFNumber`, never that of a Boolean: Apple's `CFNumberGetTypeID`.
public func CFNumberGetTypeID() -> CFTypeID { CFKind.number.rawValue }

/// The class number of `CFBoolean`: Apple's `CFBooleanGetTypeID`.
public func CFBooleanGetTypeID() -> CFTypeID { CFKind.boolean.rawValue }

/// The class number of `CFDate`: Apple's `CFDateGetTypeID`.
public func CFDateGetTypeID() -> CFTypeID { CFKind.date.rawValue }

/// The class number of `CFArray`: Apple's `CFArrayGetTypeID`.
public func CFArrayGetTypeID() -> CFTypeID { CFKind.array.rawValue }

/// The class number of `CFDictionary`: Apple's `CFDictionaryGetTypeID`.
public func CFDictionaryGetTypeID() -> CFTypeID { CFKind.dictionary.rawValue }

/// The class number of `CFSet`: Apple's `CFSetGetTypeID`.
public func CFSetGetTypeID() -> CFTypeID { CFKind.set.rawValue }

/// The class number of `CFError`: Apple's `CFErrorGetTypeID`.
public func CFErrorGetTypeID() -> CFTypeID { CFKind.error.rawValue }

/// The class number of `CFURL`: Apple's `CFURLGetTypeID`.
public func CFURLGetTypeID() -> CFTypeID { CFKind.url.rawValue }
