import TestSupport
import Testing
import VaubanDER

/// Reading is strict: every byte is consumed, the reader sets every limit, and nothing has two encodings.
@Suite struct StrictDERTests {
    /// One field of each shape that our modules use.
    private struct Probe: DERReadable, DERWritable, Equatable {
        var number: Int64 = 5
        var flag = true
        var octets: [UInt8] = [1, 2]
        var text = "ä"
        var optional: Int64?
        var list: [Element] = []

        struct Element: DERReadable, DERWritable, Equatable {
            let number: Int64
            init(_ number: Int64) { self.number = number }
            init(from fields: inout DERFields) throws { number = try fields.integer("n", in: 0...9) }
            func write(into der: inout DERWriter) throws { try der.sequence { try $0.integer(number) } }
        }

        init() {}

        init(from fields: inout DERFields) throws {
            number = try fields.integer("number", in: -200...200)
            flag = try fields.boolean("flag")
            octets = try fields.octets("octets", in: 1...4)
            text = try fields.text("text", max: 4)
            optional = try fields.optionalInteger(0, "optional", in: 0...9)
            list = try fields.list("list", max: 3)
        }

        func write(into der: inout DERWriter) throws {
            try der.sequence { fields in
                try fields.integer(number)
                try fields.boolean(flag)
                try fields.octets(octets)
                try fields.text(text)
                try fields.optionalInteger(0, optional)
                try fields.list(list)
            }
        }
    }

    private static let number: [UInt8] = [2, 1, 5], flag: [UInt8] = [1, 1, 0xFF], octets: [UInt8] = [4, 2, 1, 2]
    private static let text: [UInt8] = [0x0C, 2, 0xC3, 0xA4], none: [UInt8] = [0x30, 0]

    private static func sequence(_ parts: [UInt8]...) -> [UInt8] {
        let content = parts.flatMap { $0 }
        return [0x30, UInt8(content.count)] + content
    }

    @Test("A sample of every type is decoded") func probeIsDecoded() throws {
        var probe = Probe()
        #expect(try Probe(derBytes: Self.sequence(Self.number, Self.flag, Self.octets, Self.text, Self.none)) == probe)
        probe.optional = 9
        probe.list = [Probe.Element(0), Probe.Element(9)]
        #expect(try Probe(derBytes: probe.encoded()) == probe)
    }

    static let refused: [(String, [UInt8])] = [
        ("nothing", []),
        ("a tag alone", [0x30]),
        ("not a sequence", number),
        ("an empty sequence", none),
        ("a byte after the message", sequence(number, flag, octets, text, none) + [0]),
        ("a second message after the first", sequence(number, flag, octets, text, none) + none),
        ("a field too many", sequence(number, flag, octets, text, none, none)),
        ("a field too few", sequence(number, flag, octets, text)),
        ("fields out of order", sequence(flag, number, octets, text, none)),
        ("an unknown optional field", sequence(number, flag, octets, text, [0xA1, 3, 2, 1, 1], none)),
        ("an optional field twice", sequence(number, flag, octets, text, [0xA0, 3, 2, 1, 1], [0xA0, 3, 2, 1, 1], none)),
        ("an optional field without content", sequence(number, flag, octets, text, [0xA0, 0], none)),
        ("an optional field with two contents", sequence(number, flag, octets, text, [0xA0, 6, 2, 1, 1, 2, 1, 1], none)),
        ("an optional field that is primitive", sequence(number, flag, octets, text, [0x80, 1, 1], none)),
        ("a number with a needless zero", sequence([2, 2, 0, 5], flag, octets, text, none)),
        ("a negative number with a needless FF", sequence([2, 2, 0xFF, 0xFB], flag, octets, text, none)),
        ("a number without bytes", sequence([2, 0], flag, octets, text, none)),
        ("a number out of range", sequence([2, 2, 0x00, 0xC9], flag, octets, text, none)),
        ("a number of nine bytes", sequence([2, 9, 1, 0, 0, 0, 0, 0, 0, 0, 0], flag, octets, text, none)),
        ("true that is not FF", sequence(number, [1, 1, 1], octets, text, none)),
        ("a boolean of two bytes", sequence(number, [1, 2, 0, 0], octets, text, none)),
        ("octets too few", sequence(number, flag, [4, 0], text, none)),
        ("octets too many", sequence(number, flag, [4, 5, 1, 2, 3, 4, 5], text, none)),
        ("octets in pieces", sequence(number, flag, [0x24, 4, 4, 2, 1, 2], text, none)),
        ("text too long", sequence(number, flag, octets, [0x0C, 5, 0x61, 0x61, 0x61, 0x61, 0x61], none)),
        ("text that is not UTF-8", sequence(number, flag, octets, [0x0C, 1, 0xC3], none)),
        ("text that hides a surrogate", sequence(number, flag, octets, [0x0C, 3, 0xED, 0xA0, 0x80], none)),
        ("text of another type", sequence(number, flag, octets, [0x13, 1, 0x61], none)),
        (
            "a list too long",
            sequence(
                number, flag, octets, text, sequence([0x30, 3, 2, 1, 0], [0x30, 3, 2, 1, 0], [0x30, 3, 2, 1, 0], [0x30, 3, 2, 1, 0]))
        ),
        ("a list of something else", sequence(number, flag, octets, text, sequence(number))),
        ("a length in a longer form than needed", [0x30, 0x81] + sequence(number, flag, octets, text, none).dropFirst()),
        ("a length without end", [0x30, 0x80] + sequence(number, flag, octets, text, none).dropFirst(2) + [0, 0]),
        ("a length beyond the end", [0x30, 0x7F, 2, 1, 5]),
        ("a length of four gigabytes", [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF]),
        ("a length of nine bytes", [0x30, 0x89, 1, 0, 0, 0, 0, 0, 0, 0, 0]),
    ]

    @Test("Input that is not one strict message is refused", arguments: refused) func nonStrictMessagesAreRefused(
        _ what: String, _ bytes: [UInt8]
    ) {
        #expect(throws: (any Error).self) { try Probe(derBytes: bytes) }
    }

    @Test("Nesting is limited") func depthIsBounded() {
        var nested: [UInt8] = []
        for _ in 0..<1000 {
            let count = nested.count
            nested =
                (count < 128
                    ? [0x30, UInt8(count)]
                    : count < 256 ? [0x30, 0x81, UInt8(count)] : [0x30, 0x82, UInt8(count >> 8), UInt8(count & 255)]) + nested
        }
        #expect(throws: (any Error).self) { try Probe(derBytes: nested) }
    }

    /// A state file of a later Vauban is reported as such and kept; without a later version it counts as damage.
    @Test("A later version is distinguished from damage", arguments: [(2, 2), (127, 127), (0, nil), (-1, nil)] as [(Int8, Int64?)])
    func laterVersionIsDistinguishedFromDamage(_ version: Int8, _ newer: Int64?) {
        let fault = #expect(throws: DERError.self) {
            try Versioned(derBytes: Self.sequence([2, 1, UInt8(bitPattern: version)], Self.number))
        }
        #expect(fault?.newerVersion == newer)
        #expect(fault?.description == "version \(version) is not known; this Vauban speaks version 1")
        #expect(DERError("a field is missing").newerVersion == nil)
    }

    private struct Versioned: DERReadable {
        init(from fields: inout DERFields) throws { try fields.version(1) }
    }

    @Test("An error names a field and no value") func errorNamesAFieldAndNoValue() {
        let fault = #expect(throws: DERError.self) {
            try Probe(derBytes: Self.sequence(Self.number, Self.flag, [4, 5] + Array("hello".utf8), Self.text, Self.none))
        }
        #expect(fault?.description == "octets has a wrong length")
    }
}
