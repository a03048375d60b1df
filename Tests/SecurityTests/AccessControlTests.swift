import Foundation
import Security
import TestSupport
import Testing

/// `SecAccessControl` as an application sees it: created, refused, compared and described (Specs/secitem.md, 8).
@Suite struct AccessControlTests {
    private var classes: [(CFString, String)] {
        [
            (kSecAttrAccessibleWhenUnlocked, "ak"), (kSecAttrAccessibleAfterFirstUnlock, "ck"), (kSecAttrAccessibleAlways, "dk"),
            (kSecAttrAccessibleWhenUnlockedThisDeviceOnly, "aku"), (kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly, "cku"),
            (kSecAttrAccessibleAlwaysThisDeviceOnly, "dku"), (kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, "akpu"),
        ]
    }

    private func made(_ flags: SecAccessControlCreateFlags, _ protection: CFString = kSecAttrAccessibleWhenUnlocked) throws
        -> SecAccessControl
    {
        var error: Unmanaged<CFError>?
        let control = SecAccessControlCreateWithFlags(kCFAllocatorDefault, protection, flags, &error)
        #expect(error == nil)
        return try #require(control)
    }

    /// The published dumps of Apple's systems, and the table of operations for the rest.
    @Test("A description shows the protection class and what each operation requires, as Apple's does", .proves("C-072", "C-073", "C-074"))
    func descriptionShowsClassAndOperations() throws {
        let shown: [(CFString, SecAccessControlCreateFlags, String)] = [
            (kSecAttrAccessibleWhenUnlockedThisDeviceOnly, [], "aku;dacl(true)"),
            (kSecAttrAccessibleWhenUnlocked, .applicationPassword, "ak;dacl(true);prp(true)"),
            (
                kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly, .userPresence,
                "cku;od(cpo(DeviceOwnerAuthentication));odel(true);oe(true)"
            ),
            (
                kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, .biometryCurrentSet,
                "akpu;od(cbio(pbioc()pbioh()));odel(true);oe(true)"
            ),
            (kSecAttrAccessibleAlways, .biometryAny, "dk;od(cbio(pbioc()));odel(true);oe(true)"),
            (kSecAttrAccessibleWhenUnlocked, [.devicePasscode, .and], "ak;od(cup(true));odel(true);oe(true)"),
            (
                kSecAttrAccessibleWhenUnlocked, [.userPresence, .applicationPassword],
                "ak;od(cpo(DeviceOwnerAuthentication));odel(true);oe(true);prp(true)"
            ),
            (
                kSecAttrAccessibleWhenUnlocked, [.biometryCurrentSet, .or, .devicePasscode],
                "ak;od(cbio(pbioc()pbioh())cup(true)pkofn(1));odel(true);oe(true)"
            ),
            (
                kSecAttrAccessibleAfterFirstUnlock, [.biometryAny, .devicePasscode, .companion],
                "ck;od(cbio(pbioc())cup(true)cwtch(true)pkofn(3));odel(true);oe(true)"
            ),
            (kSecAttrAccessibleWhenUnlockedThisDeviceOnly, .privateKeyUsage, "aku;oa(true);ock(true);odel(true);okd(true);osgn(true)"),
            (
                kSecAttrAccessibleAlwaysThisDeviceOnly, [.privateKeyUsage, .devicePasscode],
                "dku;oa(true);ock(cup(true));odel(true);okd(cup(true));osgn(cup(true))"
            ),
        ]
        for (protection, flags, text) in shown {
            let control = try made(flags, protection)
            #expect(control.description == "<SecAccessControlRef: \(text)>")
            #expect("\(control)" == control.description)
        }
    }

    @Test("Only accessibility classes are accepted as a protection") func onlyAccessibilityClassesAreAccepted() throws {
        for (protection, code) in classes {
            #expect(try made([], protection).description == "<SecAccessControlRef: \(code);dacl(true)>")
        }
        let others: [CFTypeRef] = ["" as CFString, "AK" as CFString, "akx" as CFString, NSNumber(value: 6), NSNull(), NSDictionary()]
        for other in others { #expect(refusal([], other)?.contains("accessibility") == true) }
    }

    /// Returns the message of a refusal, which always comes as errSecParam.
    private func refusal(_ flags: SecAccessControlCreateFlags, _ protection: CFTypeRef = kSecAttrAccessibleWhenUnlocked) -> String? {
        var error: Unmanaged<CFError>?
        let control = SecAccessControlCreateWithFlags(nil, protection, flags, &error)
        guard control == nil, let report = error?.takeRetainedValue() else { return nil }
        #expect(CFErrorGetDomain(report) as String == NSOSStatusErrorDomain && CFErrorGetCode(report) == CFIndex(errSecParam))
        // A caller without an error pointer gets nil too.
        #expect(SecAccessControlCreateWithFlags(nil, protection, flags, nil) == nil)
        return report.localizedDescription
    }

    @Test("Contradictory and unknown flags are refused with a message that names them", .proves("C-074"))
    func contradictoryFlagsAreRefusedWithAMessage() {
        let contradictions: [(SecAccessControlCreateFlags, String)] = [
            ([.or, .and], "or"), ([.biometryAny, .biometryCurrentSet], "biometry"), ([.touchIDAny, .touchIDCurrentSet], "biometry"),
            ([.userPresence, .or], "userPresence"), ([.userPresence, .and], "userPresence"),
            ([.userPresence, .biometryAny], "userPresence"),
            ([.userPresence, .devicePasscode], "userPresence"), ([.userPresence, .watch], "userPresence"),
            (SecAccessControlCreateFlags(rawValue: 1 << 2), "unknown"), (SecAccessControlCreateFlags(rawValue: 1 << 63), "unknown"),
        ]
        for (flags, word) in contradictions { #expect(refusal(flags)?.contains(word) == true, "\(flags.rawValue)") }
    }

    @Test("Access controls with the same constraints are equal, and others are not") func controlsWithTheSameConstraintsAreEqual() throws {
        let groups: [[SecAccessControlCreateFlags]] = [
            [[], .or, .and], [.devicePasscode, [.devicePasscode, .or], [.devicePasscode, .and]],
            [[.biometryAny, .devicePasscode], [.touchIDAny, .devicePasscode, .and]], [[.biometryAny, .devicePasscode, .or]],
            [.biometryAny], [.biometryCurrentSet, .touchIDCurrentSet], [.companion, .watch], [.userPresence], [.applicationPassword],
            [.privateKeyUsage], [[.privateKeyUsage, .userPresence]], [[.userPresence, .applicationPassword]],
        ]
        var all: [(key: String, control: SecAccessControl)] = []
        for (index, group) in groups.enumerated() {
            for (protection, code) in classes {
                for flags in group { all.append(("\(index) \(code)", try made(flags, protection))) }
            }
        }
        for one in all {
            for other in all {
                #expect(one.control.isEqual(other.control) == (one.key == other.key), "\(one.control) \(other.control)")
                if one.key == other.key { #expect(one.control.hash == other.control.hash) }
            }
        }
        #expect(!all[0].control.isEqual("ak") && !all[0].control.isEqual(nil))
    }

    /// An access control in Foundation's collections, as wrappers store it.
    @Test("An access control can be stored in Foundation's collections") func controlWorksAsADictionaryValue() throws {
        let dictionary = [kSecAttrAccessControl as String: try made(.userPresence)] as NSDictionary
        #expect(dictionary == [kSecAttrAccessControl as String: try made(.userPresence)] as NSDictionary)
        #expect(dictionary != [kSecAttrAccessControl as String: try made([])] as NSDictionary)
        #expect(Set([try made(.userPresence), try made(.userPresence), try made([])]).count == 2)
        let held: Any? = dictionary[kSecAttrAccessControl as String]
        #expect(held is SecAccessControl)
    }

    @Test("An access control has a type identifier of its own") func controlHasItsOwnTypeIdentifier() throws {
        #expect(CFGetTypeID(try made([])) == SecAccessControlGetTypeID())
        let others = [CFStringGetTypeID(), CFDataGetTypeID(), CFNumberGetTypeID(), CFBooleanGetTypeID(), CFDictionaryGetTypeID(), 0]
        #expect(!others.contains(SecAccessControlGetTypeID()))
    }

    @Test("The former names of flags are the same flags") func formerNamesAreTheSameFlags() {
        #expect(SecAccessControlCreateFlags.touchIDAny == .biometryAny && SecAccessControlCreateFlags.touchIDAny.rawValue == 1 << 1)
        #expect(SecAccessControlCreateFlags.touchIDCurrentSet == .biometryCurrentSet)
        #expect(SecAccessControlCreateFlags.touchIDCurrentSet.rawValue == 1 << 3)
        #expect(SecAccessControlCreateFlags.watch == .companion && SecAccessControlCreateFlags.watch.rawValue == 1 << 5)
    }
}
