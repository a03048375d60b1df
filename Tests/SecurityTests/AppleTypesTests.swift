import Security
import Testing

/// Core Foundation names, casts and hashing mean on Linux what they mean on Apple's systems.
@Suite struct AppleTypesTests {
    // MARK: Hashing, checked on every toolchain because it uses an underscored protocol.

    @Test("A constant of Security finds a value under the same Swift string, and the reverse") func foundationKeyFindsASwiftKey() {
        let swiftKeys: [AnyHashable: Any] = ["acct": "anna"]
        #expect(swiftKeys[kSecAttrAccount] as? String == "anna")

        let foundationKeys: [AnyHashable: Any] = [kSecAttrAccount: "anna"]
        #expect(foundationKeys["acct"] as? String == "anna")
    }

    @Test("Equal text and bytes hash alike in Foundation's and Swift's types") func equalTextAndBytesHashAlike() {
        #expect(AnyHashable(NSString("x")) == AnyHashable("x"))
        #expect(AnyHashable(NSString("x")).hashValue == AnyHashable("x").hashValue)
        #expect(AnyHashable(NSString("x")) != AnyHashable("y"))

        let bytes = Data([1, 2, 3])
        #expect(AnyHashable(bytes as NSData) == AnyHashable(bytes))
        #expect(Set([AnyHashable(bytes), AnyHashable(bytes as NSData)]).count == 1)
    }

    @Test("A dictionary built in Swift equals the same one built in Foundation") func dictionariesAreEqualWhicheverWayTheyWereBuilt() {
        let swift: [String: Any] = [kSecAttrAccount as String: "anna", "v_Data": Data([7])]
        let other: NSDictionary = [
            kSecAttrAccount: "anna" as NSString, kSecValueData: NSData(data: Data([7])),
        ]
        #expect(other.isEqual(to: swift))
        #expect((swift as NSDictionary).isEqual(other))
    }

    // MARK: Casts of the keychain's results.

    @Test("A result casts to Data, NSData and CFData, and to no other type", arguments: [true, false]) func data(isFoundation: Bool) {
        let stored: AnyObject? = isFoundation ? NSData(data: Data([1, 2])) : Data([1, 2]) as AnyObject
        #expect(stored as? Data == Data([1, 2]))
        #expect((stored as? NSData)?.length == 2)
        #expect((stored as? CFData).map(CFDataGetLength) == 2)
        #expect(stored as? String == nil)
    }

    @Test("A result casts to String, and nil to nothing") func strings() {
        let stored: AnyObject? = NSString("anna")
        #expect(stored as? String == "anna")
        #expect(stored is String)
        let nothing: AnyObject? = nil
        #expect(nothing as? String == nil)
    }

    @Test("A dictionary casts by String, CFString, NSString and AnyHashable keys") func dictionaries() {
        let built: NSDictionary = [kSecAttrAccount: "anna", kSecAttrPort: 443, kSecReturnData: true]
        let stored: AnyObject? = built
        #expect((stored as? [String: Any])?[kSecAttrAccount as String] as? String == "anna")
        #expect((stored as? [CFString: Any])?[kSecAttrAccount] as? String == "anna")
        #expect((stored as? [NSString: AnyObject])?[kSecAttrPort] as? Int == 443)
        #expect((stored as? [String: AnyObject])?["port"] as? NSNumber == 443)
        #expect((stored as? [AnyHashable: Any])?[kSecReturnData] as? Bool == true)
        #expect((stored as? [NSObject: AnyObject])?.count == 3)
        #expect((stored as? [String: String]) == nil)
        #expect(built[kSecAttrAccount] as? String == "anna")
        #expect(built[kSecAttrAccount as String] as? String == "anna")
    }

    @Test("An array casts to arrays of dictionaries or of data") func arrays() {
        let item: [String: Any] = [kSecAttrAccount as String: "anna"]
        let items: AnyObject? = [item, item] as NSArray
        #expect((items as? [[String: Any]])?.count == 2)
        #expect((items as? [[CFString: Any]])?.count == 2)
        #expect((items as? [[AnyHashable: Any]])?.count == 2)
        #expect((items as? [CFDictionary])?.count == 2)
        #expect((items as? [AnyObject])?.count == 2)

        let secrets: AnyObject? = [NSData(data: Data([1])), NSData(data: Data([2]))] as NSArray
        #expect(secrets as? [Data] == [Data([1]), Data([2])])
        #expect((secrets as? [[String: Any]]) == nil)
    }

    @Test("A pointer to a result takes AnyObject and CFTypeRef variables") func resultPointerAcceptsBothTypes() {
        func answer(_ result: UnsafeMutablePointer<CFTypeRef?>?) { result?.pointee = NSString("x") }
        var object: AnyObject?
        var reference: CFTypeRef?
        answer(&object)
        answer(&reference)
        answer(nil)
        #expect(object as? String == "x")
        #expect(reference as? String == "x")
    }

    @Test("The boolean constants cast to Bool, CFBoolean and NSNumber") func booleans() {
        #expect(kCFBooleanTrue as? Bool == true)
        #expect(kCFBooleanFalse as? Bool == false)
        #expect(kCFBooleanTrue == true as CFBoolean)
        let query: [String: AnyObject] = [kSecReturnData as String: kCFBooleanTrue]
        #expect((query as CFDictionary)[kSecReturnData] as? Bool == true)
    }

    // MARK: Core Foundation functions.

    @Test("Every type has its own Core Foundation identifier") func everyTypeHasItsOwnIdentifier() {
        let objects: [(AnyObject, CFTypeID)] = [
            (NSString("x"), CFStringGetTypeID()),
            (NSMutableString(string: "x"), CFStringGetTypeID()),
            (NSData(), CFDataGetTypeID()),
            (NSNumber(value: 1), CFNumberGetTypeID()),
            (NSNumber(value: Int8(1)), CFNumberGetTypeID()),
            (NSNumber(value: 1.5), CFNumberGetTypeID()),
            (NSNumber(value: true), CFBooleanGetTypeID()),
            (kCFBooleanFalse, CFBooleanGetTypeID()),
            (true as AnyObject, CFBooleanGetTypeID()),
            (false as CFBoolean, CFBooleanGetTypeID()),
            ("x" as AnyObject, CFStringGetTypeID()),
            (Data() as AnyObject, CFDataGetTypeID()),
            (NSDate(), CFDateGetTypeID()),
            (NSArray(), CFArrayGetTypeID()),
            (NSDictionary(), CFDictionaryGetTypeID()),
            (NSSet(), CFSetGetTypeID()),
            (NSError(domain: "d", code: 1), CFErrorGetTypeID()),
        ]
        for (object, number) in objects {
            #expect(CFGetTypeID(object) == number, "\(object)")
        }
        #expect(Set(objects.map(\.1)).count == 9)
        #expect(CFGetTypeID(nil) == 0)
        #expect(CFGetTypeID(NSObject()) == 0)
    }

    @Test("Data without a copy refers to the caller's bytes") func dataCanBorrowBytes() {
        let bytes: [UInt8] = [1, 2, 3]
        bytes.withUnsafeBufferPointer { buffer in
            let data = CFDataCreateWithBytesNoCopy(
                kCFAllocatorDefault, buffer.baseAddress, buffer.count, kCFAllocatorNull)
            #expect(CFDataGetLength(data) == 3)
            #expect(CFDataGetBytePtr(data) == buffer.baseAddress)
        }
        #expect(CFDataCreateWithBytesNoCopy(nil, nil, 0, nil) == nil)
    }

    @Test("A CFError keeps its domain, code and user information, and can be thrown") func errorsKeepTheirParts() throws {
        let error = CFErrorCreate(
            kCFAllocatorDefault, NSOSStatusErrorDomain as CFErrorDomain, -50, ["why": "test"] as CFDictionary)
        #expect(CFErrorGetDomain(error) as String == NSOSStatusErrorDomain)
        #expect(CFErrorGetCode(error) == -50)
        #expect((CFErrorCopyUserInfo(error) as? [String: Any])?["why"] as? String == "test")

        let passed = Unmanaged<CFError>.passRetained(try #require(error))
        #expect(throws: NSError.self) { throw passed.takeRetainedValue() as any Error }
    }

    // MARK: Flags, random bytes and constants.

    @Test("Access control flags have Apple's bits") func accessControlFlagsHaveApplesBits() {
        let both: SecAccessControlCreateFlags = [.privateKeyUsage, .userPresence]
        #expect(both.rawValue == 0x4000_0001)
        #expect(SecAccessControlCreateFlags.applicationPassword.rawValue == 0x8000_0000)
        #expect(SecAccessControlCreateFlags(rawValue: CFOptionFlags(0x4008)) == [.or, .biometryCurrentSet])
        #expect(SecAccessControlCreateFlags.touchIDAny == .biometryAny)
        #expect(SecAccessControlCreateFlags.touchIDCurrentSet.rawValue == 8)
        #expect(SecAccessControlCreateFlags.watch.rawValue == 32)
        #expect(SecAccessControlCreateFlags([.devicePasscode, .and]).rawValue == 0x8010)
    }

    @Test("Random bytes fill the buffer and nothing after it", arguments: [0, 1, 32, 256, 257, 5000])
    func randomBytesFillTheBuffer(count: Int) {
        var first = [UInt8](repeating: 0, count: count + 1)
        var second = first
        #expect(SecRandomCopyBytes(kSecRandomDefault, count, &first) == errSecSuccess)
        #expect(SecRandomCopyBytes(nil, count, &second) == errSecSuccess)
        #expect(first.last == 0 && second.last == 0)
        if count >= 32 {
            #expect(first != second)
            #expect(first.dropLast().suffix(32).contains { $0 != 0 })
        }
    }

    @Test("A negative number of random bytes is refused") func randomBytesRefuseANegativeCount() {
        var byte: UInt8 = 9
        #expect(SecRandomCopyBytes(kSecRandomDefault, -1, &byte) == errSecParam)
        #expect(byte == 9)
    }

    @Test("Suggested passwords differ, and each has a lowercase letter, an uppercase letter and a digit")
    func suggestedPasswordsHaveAllClasses() throws {
        let passwords = (0..<500).compactMap { _ in SecCreateSharedWebCredentialPassword() as String? }
        #expect(Set(passwords).count == 500)
        for password in passwords {
            #expect(password.count == 15 && password.filter { $0 == "-" }.count == 3)
            #expect(password.contains(where: \.isLowercase) && password.contains(where: \.isUppercase))
            #expect(password.contains(where: \.isNumber) && !password.contains { "ijlzIO012".contains($0) })
        }
        // Every allowed character occurs.
        #expect(Set(passwords.joined()).count == 22 + 24 + 7 + 1)
    }

    @Test("Constants have Apple's texts") func constantsHaveApplesTexts() {
        #expect(kSecClass as String == "class")
        #expect(kSecClassGenericPassword as String == "genp")
        #expect(kSecUseDataProtectionKeychain as String == "nleg")
        #expect(kSecAttrProtocolSSH as String == "ssh ")
        #expect(kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly as String == "akpu")
        #expect(kSecAttrKeyTypeECSECPrimeRandom == kSecAttrKeyTypeEC)
        #expect(kSecAttrPersistantReference == kSecAttrPersistentReference)
        #expect(kCFBundleIdentifierKey as String == "CFBundleIdentifier")
    }
}
