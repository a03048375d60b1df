// From a match to the objects that the return keys ask for (secitem 6.1).

internal import VaubanAccessPolicy
internal import VaubanKeychainClient
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanSecretBytes

enum ItemResult {
    /// One match as an object. Data alone is never nil: an item without a value gives empty data.
    static func object(for entry: FoundEntry, _ returns: ReturnKinds) -> AnyObject {
        var value: NSData?
        if let secret = entry.takeSecret() { value = NSData(data: secret.disclosed()) }
        guard returns.contains(.attributes), let record = entry.record else { return value ?? NSData() }
        let dictionary = NSMutableDictionary()
        for (name, attribute) in record.attributes.values { dictionary[NSString(string: name.rawValue)] = attribute.foundation }
        dictionary[kSecAttrAccessible] = NSString(string: record.protection.rawValue)
        dictionary[kSecAttrAccessControl] = record.accessControl.map { SecAccessControl($0) } ?? SecAccessControl(bare: record.protection)
        if returns.contains(.data), let value { dictionary[kSecValueData] = value }
        return dictionary
    }
}

extension AttributeValue {
    /// From what a caller put into a dictionary. A Boolean is the number 0 or 1 (secitem 3).
    init(foundation value: AnyObject) throws {
        switch value {
        case let text as String: self = .text(text)
        case let data as Data: self = .data([UInt8](data))
        case let date as Date: self = .date(Int64((date.timeIntervalSinceReferenceDate * 1_000_000).rounded()))
        case let number as NSNumber: self = .number(number.int64Value)
        case let uuid as UUID: self = .text(uuid.uuidString)
        default: throw Refusal(.badParameter, "an attribute has a type that no attribute takes")
        }
    }

    /// The object that a caller gets, of the type that was stored.
    var foundation: AnyObject {
        switch self {
        case .text(let text): NSString(string: text)
        case .data(let bytes): NSData(data: Data(bytes))
        case .number(let number): NSNumber(value: number)
        case .date(let microseconds): NSDate(timeIntervalSinceReferenceDate: Double(microseconds) / 1_000_000)
        }
    }
}
