@_exported public import Foundation

// The Core Foundation names that Apple's `Security` re-exports. Each collection and value type is the Foundation class to which Apple
// bridges it, so `as CFDictionary`, `as? String` and dictionary literals with `kSec` keys work as on Apple's systems.

/// Any Core Foundation object: Apple's `CFTypeRef`.
public typealias CFTypeRef = AnyObject

/// Apple's `CFString`.
public typealias CFString = NSString

/// Apple's `CFMutableString`.
public typealias CFMutableString = NSMutableString

/// Apple's `CFDictionary`.
public typealias CFDictionary = NSDictionary

/// Apple's `CFMutableDictionary`.
public typealias CFMutableDictionary = NSMutableDictionary

/// Apple's `CFArray`.
public typealias CFArray = NSArray

/// Apple's `CFMutableArray`.
public typealias CFMutableArray = NSMutableArray

/// Apple's `CFSet`.
public typealias CFSet = NSSet

/// Apple's `CFMutableSet`.
public typealias CFMutableSet = NSMutableSet

/// Apple's `CFData`.
public typealias CFData = NSData

/// Apple's `CFMutableData`.
public typealias CFMutableData = NSMutableData

/// Apple's `CFDate`.
public typealias CFDate = NSDate

/// Apple's `CFURL`.
public typealias CFURL = NSURL

/// Apple's `CFNumber`.
public typealias CFNumber = NSNumber

/// Apple's `CFBoolean`. It is the same class as `CFNumber`; `CFGetTypeID(_:)` distinguishes the two.
public typealias CFBoolean = NSNumber

/// Apple's `CFError`.
public typealias CFError = NSError

/// The domain of an error code: Apple's `CFErrorDomain`.
public typealias CFErrorDomain = NSString

/// The C spelling of `CFString`, which Apple's Swift no longer offers.
@available(*, deprecated, renamed: "CFString")
public typealias CFStringRef = CFString

/// The C spelling of `CFNumber`, which Apple's Swift no longer offers.
@available(*, deprecated, renamed: "CFNumber")
public typealias CFNumberRef = CFNumber

/// A signed count or position: Apple's `CFIndex`.
public typealias CFIndex = Int

/// A set of option bits: Apple's `CFOptionFlags`. It is unsigned because flags reach bit 31.
public typealias CFOptionFlags = UInt

/// The identifier of a Core Foundation class: Apple's `CFTypeID`.
public typealias CFTypeID = UInt

/// Seconds since the beginning of 2001: Apple's `CFAbsoluteTime`.
public typealias CFAbsoluteTime = Double

/// A result code: Apple's `OSStatus` from `MacTypes.h`.
public typealias OSStatus = Int32

/// Four characters packed into a number: Apple's `FourCharCode` from `MacTypes.h`.
public typealias FourCharCode = UInt32

/// The result code of success: Apple's `noErr` from `MacTypes.h`.
public let noErr: OSStatus = 0

/// The Boolean true as an object: Apple's `kCFBooleanTrue`.
public let kCFBooleanTrue: CFBoolean! = NSNumber(value: true)

/// The Boolean false as an object: Apple's `kCFBooleanFalse`.
public let kCFBooleanFalse: CFBoolean! = NSNumber(value: false)

/// The key of the bundle identifier in an information property list: Apple's `kCFBundleIdentifierKey`. Foundation declares NSString
/// non-Sendable because of its mutable subclass; this one is an immutable literal, never replaced, so `nonisolated(unsafe)` is sound.
nonisolated(unsafe) public let kCFBundleIdentifierKey: CFString! = "CFBundleIdentifier"
