import TestSupport
import Testing
import VaubanDER
import VaubanKeychainModel

/// The types that each attribute accepts, and the type in which it is stored (Specs/secitem.md, 2, 3).
@Suite struct AttributeTests {
    struct Conversion: Sendable, CustomTestStringConvertible {
        let value: AttributeValue
        let form: AttributeForm
        let result: AttributeValue?
        var testDescription: String { "\(value) as \(form)" }

        init(_ value: AttributeValue, _ form: AttributeForm, _ result: AttributeValue?) {
            self.value = value
            self.form = form
            self.result = result
        }
    }

    static let conversions = [
        // A blob is stored in the type in which it was given.
        Conversion(.text("a"), .blob, .text("a")), Conversion(.data([0xFF]), .blob, .data([0xFF])),
        Conversion(.number(5), .blob, .number(5)),
        Conversion(.date(5), .blob, nil),
        // Text accepts data that is UTF-8.
        Conversion(.text("ä"), .text, .text("ä")), Conversion(.data([0xC3, 0xA4]), .text, .text("ä")),
        Conversion(.data([]), .text, .text("")),
        Conversion(.data([0xC3]), .text, nil), Conversion(.number(5), .text, nil), Conversion(.date(5), .text, nil),
        // A number accepts text that is exactly a decimal integer, and stores other text.
        Conversion(.number(-5), .number, .number(-5)), Conversion(.text("443"), .number, .number(443)),
        Conversion(.text("-1"), .number, .number(-1)), Conversion(.text("0"), .number, .number(0)),
        Conversion(.text("9223372036854775807"), .number, .number(.max)),
        Conversion(.text("9223372036854775808"), .number, .text("9223372036854775808")),
        Conversion(.text("http"), .number, .text("http")), Conversion(.text(""), .number, .text("")),
        Conversion(.text("007"), .number, .text("007")),
        Conversion(.text("+5"), .number, .text("+5")), Conversion(.text(" 5"), .number, .text(" 5")),
        Conversion(.text("-0"), .number, .text("-0")),
        Conversion(.text("0x10"), .number, .text("0x10")), Conversion(.data([5]), .number, nil), Conversion(.date(5), .number, nil),
        // Data accepts text and numbers as bytes.
        Conversion(.data([0xFF]), .data, .data([0xFF])), Conversion(.text("ä"), .data, .data([0xC3, 0xA4])),
        Conversion(.number(258), .data, .data([2, 1, 0, 0])), Conversion(.number(-1), .data, .data([255, 255, 255, 255])),
        Conversion(.number(1 << 40), .data, nil), Conversion(.date(5), .data, nil),
        // A date accepts only a date.
        Conversion(.date(5), .date, .date(5)), Conversion(.number(5), .date, nil), Conversion(.text("5"), .date, nil),
        Conversion(.data([5]), .date, nil),
    ]

    @Test("Conversions of attributes match the table", arguments: conversions) func conversionsMatchTheTable(_ conversion: Conversion) {
        #expect(conversion.value.converted(to: conversion.form) == conversion.result)
    }

    @Test("Text and data of the same bytes are equal, and nothing else is") func textAndDataOfTheSameBytesAreEqualAndNothingElseIs() {
        #expect(AttributeValue.text("ä").equalityBytes == AttributeValue.data([0xC3, 0xA4]).equalityBytes)
        let different: [AttributeValue] = [
            .text("a"), .text("A"), .text("a "), .text(""), .text("1"), .number(1), .date(1), .number(0), .date(0), .number(-1),
            // The composed and the decomposed letter are different bytes.
            .text("\u{E4}"), .text("a\u{308}"), .data([0, 0, 0, 0, 0, 0, 0, 1]),
        ]
        #expect(Set(different.map(\.equalityBytes)).count == different.count)
        #expect(AttributeValue.number(258).equalityBytes == [2, 0, 0, 0, 0, 0, 0, 1, 2])
    }

    @Test(
        "A value decodes in the type in which it was encoded",
        arguments: [AttributeValue.text("ä"), .text(""), .data([]), .data([0, 255]), .number(.min), .number(0), .date(.max)])
    func valueDecodesInItsType(_ value: AttributeValue) throws {
        let attributes = ItemAttributes([.account: value])
        #expect(try ItemAttributes(derBytes: attributes.encoded()) == attributes)
    }

    @Test("The primary attributes make an item unique") func primaryKeyMakesAnItemUnique() {
        let generic: [AttributeName] = [.accessGroup, .synchronizable, .account, .service]
        let internet: [AttributeName] = [
            .accessGroup, .synchronizable, .account, .securityDomain, .server, .protocolName, .authenticationType, .port, .path,
        ]
        func always(_ kind: ItemKind) -> [AttributeName] { AttributeRule.primary(of: kind).filter { $0.part == .always }.map(\.name) }
        #expect(Set(always(.genericPassword)) == Set(generic))
        #expect(Set(always(.internetPassword)) == Set(internet))
    }

    @Test("Each item class has its attributes") func eachClassHasItsAttributes() throws {
        func fault(_ values: [AttributeName: AttributeValue], _ kind: ItemKind) -> AttributeError? {
            do throws(AttributeError) {
                _ = try ItemAttributes(values).conforming(to: kind)
                return nil
            } catch {
                return error
            }
        }
        #expect(fault([.service: .text("s")], .genericPassword) == nil)
        #expect(fault([.service: .text("s")], .internetPassword) == .unknown(.service))
        #expect(fault([.server: .text("s")], .genericPassword) == .unknown(.server))
        let other = try #require(AttributeName(rawValue: "abcd"))
        #expect(fault([other: .text("s")], .genericPassword) == .unknown(other))
        #expect(fault([.accessGroup: .number(1)], .genericPassword) == .wrongType(.accessGroup))
        let conformed = try ItemAttributes([.port: .text("443"), .account: .data([1])]).conforming(to: .internetPassword)
        #expect(conformed == ItemAttributes([.port: .number(443), .account: .data([1])]))
    }

    /// Names ascend, each once, four letters each: so equal sets have equal bytes, and there is no second encoding.
    @Test("Attributes out of order or repeated are refused") func attributesOutOfOrderAreRefused() throws {
        func attribute(_ name: String) -> [UInt8] {
            let pair = [0x0C, UInt8(name.utf8.count)] + Array(name.utf8) + [0xA0, 3, 0x0C, 1, 0x61]
            return [0x30, UInt8(pair.count)] + pair
        }
        func list(_ names: String...) -> [UInt8] {
            let content = names.flatMap(attribute)
            return [0x30, UInt8(content.count)] + content
        }
        let good = try ItemAttributes(derBytes: list("acct", "svce"))
        #expect(good == ItemAttributes([.account: .text("a"), .service: .text("a")]))
        #expect(try good.encoded() == list("acct", "svce"))
        for bad in [list("svce", "acct"), list("acct", "acct"), list("acc"), list("accts"), list("")] {
            #expect(throws: (any Error).self) { try ItemAttributes(derBytes: bad) }
        }
    }

    @Test("Attributes are limited in number and size") func attributesAreLimited() throws {
        func many(_ count: Int) -> ItemAttributes {
            let names = (0..<count).compactMap { AttributeName(rawValue: String(1000 + $0)) }
            return ItemAttributes(Dictionary(uniqueKeysWithValues: names.map { ($0, .number(1)) }))
        }
        #expect(try ItemAttributes(derBytes: many(128).encoded()).count == 128)
        #expect(throws: (any Error).self) { try ItemAttributes(derBytes: many(129).encoded()) }
        let long = ItemAttributes([.account: .data([UInt8](repeating: 0, count: AttributeValue.bytesMax + 1))])
        #expect(throws: (any Error).self) { try ItemAttributes(derBytes: long.encoded()) }
    }

    /// A search matches by what the terms of an index say, without making them.
    @Test("Attributes of the Secret Service match those that a query names")
    func attributesMatchAQuery() {
        typealias Attributes = SecretServiceAttributes
        let pairs = [("a", "1"), ("ab", "2"), ("b", ""), ("\u{E4}", "3")].map { Attributes.Pair($0, $1) }
        let instance: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
        let item = Attributes(collection: "login", instance: instance, attributes: pairs)
        for mask in 0..<(1 << pairs.count) {
            let some = pairs.indices.filter { mask >> $0 & 1 == 1 }.map { pairs[$0] }
            for collection in ["", "login"] { #expect(item.match(Attributes(collection: collection, attributes: some))) }
            #expect(!item.match(Attributes(collection: "logi", attributes: some)))
            let others = [("a", "2"), ("", ""), ("aa", "2"), ("c", ""), ("a\u{308}", "3"), ("\u{E4}", "4")]
            for (name, value) in others {
                let wanted = Attributes(attributes: some.filter { !$0.name.utf8.elementsEqual(name.utf8) } + [Attributes.Pair(name, value)])
                #expect(!item.match(wanted))
                #expect(item.match(wanted) == Set(wanted.terms).isSubset(of: item.terms))
            }
        }
        #expect(item.match(Attributes(instance: instance, attributes: [])))
        #expect(!item.match(Attributes(instance: instance.reversed(), attributes: [])))
    }

    @Test("Two spellings of one letter are different values, with different hashes") func textIsComparedByBytes() {
        let (composed, decomposed) = (AttributeValue.text("caf\u{E9}"), AttributeValue.text("cafe\u{301}"))
        #expect("caf\u{E9}" == "cafe\u{301}" && composed != decomposed && !composed.hasEqualBytes(as: decomposed))
        #expect(Set([composed, decomposed, .text("caf\u{E9}")]).count == 2)
    }

    @Test("Values have equal bytes exactly if their equality bytes are equal") func equalBytesMatchEqualityBytes() {
        let values: [AttributeValue] = [
            .text(""), .data([]), .text("a"), .data([0x61]), .text("\u{E9}"), .text("e\u{301}"), .data([0xC3, 0xA9]), .number(0), .date(0),
            .number(0x61), .date(0x61),
        ]
        for one in values {
            for other in values { #expect(one.hasEqualBytes(as: other) == (one.equalityBytes == other.equalityBytes)) }
        }
    }
}
