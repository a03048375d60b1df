import SwiftASN1
import Testing
import VaubanDER

/// Compares our reader of DER with swift-asn1's over the same bytes, and our writer with swift-asn1's over the same values: each accepts
/// what the other accepts, as the same value, and writes the same bytes.
@Suite struct DERComparisonTests {
    /// A field of each shape that our modules have.
    private struct Message: DERReadable, DERWritable, Equatable {
        var number: Int64
        var flag: Bool
        var octets: [UInt8]
        var text: String
        var optional: Int64?
        var choice: Choice
        var list: [Pair]

        init(number: Int64, flag: Bool, octets: [UInt8], text: String, optional: Int64?, choice: Choice, list: [Pair]) {
            (self.number, self.flag, self.octets, self.text) = (number, flag, octets, text)
            (self.optional, self.choice, self.list) = (optional, choice, list)
        }

        init(from fields: inout DERFields) throws {
            number = try fields.integer("number", in: Int64.min...Int64.max)
            flag = try fields.boolean("flag")
            octets = try fields.octets("octets", in: 0...Int.max)
            text = try fields.text("text", max: .max)
            optional = try fields.optionalInteger(0, "optional", in: Int64.min...Int64.max)
            choice = try Choice(from: &fields)
            list = try fields.list("list", max: .max)
        }

        func write(into der: inout DERWriter) throws {
            try der.sequence { fields in
                try fields.integer(number)
                try fields.boolean(flag)
                try fields.octets(octets)
                try fields.text(text)
                try fields.optionalInteger(0, optional)
                switch choice {
                case .text(let text): try fields.optionalText(1, text)
                case .octets(let octets): try fields.optionalOctets(16, octets)
                }
                try fields.list(list)
            }
        }
    }

    private enum Choice: Equatable {
        case text(String)
        case octets([UInt8])

        init(from fields: inout DERFields) throws {
            switch try fields.choice("choice") {
            case 1: self = .text(try fields.optionalText(1, "choice", max: .max) ?? "")
            case 16: self = .octets(try fields.optionalOctets(16, "choice", in: 0...Int.max) ?? [])
            default: throw DERError("choice is unknown")
            }
        }
    }

    private struct Pair: DERReadable, DERWritable, Equatable {
        let first: Int64
        let second: Bool

        init(_ first: Int64, _ second: Bool) { (self.first, self.second) = (first, second) }

        init(from fields: inout DERFields) throws {
            first = try fields.integer("first", in: Int64.min...Int64.max)
            second = try fields.boolean("second")
        }

        func write(into der: inout DERWriter) throws {
            try der.sequence { fields in
                try fields.integer(first)
                try fields.boolean(second)
            }
        }
    }

    private struct OfAnotherShape: Error {}

    /// Reads the same with swift-asn1 alone.
    private static func readByLibrary(_ bytes: [UInt8]) throws -> Message {
        try DER.sequence(DER.parse(bytes), identifier: .sequence) { fields in
            func next() throws -> ASN1Node {
                guard let node = fields.next() else { throw OfAnotherShape() }
                return node
            }
            func text(_ node: ASN1Node) throws -> String {
                guard let text = String(validating: try ASN1UTF8String(derEncoded: node).bytes, as: UTF8.self) else {
                    throw OfAnotherShape()
                }
                return text
            }
            func only(in node: ASN1Node) throws -> ASN1Node {
                guard case .constructed(let nodes) = node.content else { throw OfAnotherShape() }
                var content = nodes.makeIterator()
                guard let one = content.next(), content.next() == nil else { throw OfAnotherShape() }
                return one
            }
            let (number, flag) = (try Int64(derEncoded: next()), try Bool(derEncoded: next()))
            let (octets, words) = (Array(try ASN1OctetString(derEncoded: next()).bytes), try text(next()))
            var node = try next()
            var optional: Int64?
            if node.identifier == ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific) {
                optional = try Int64(derEncoded: only(in: node))
                node = try next()
            }
            let choice: Choice =
                switch node.identifier {
                case ASN1Identifier(tagWithNumber: 1, tagClass: .contextSpecific): .text(try text(only(in: node)))
                case ASN1Identifier(tagWithNumber: 16, tagClass: .contextSpecific):
                    .octets(Array(try ASN1OctetString(derEncoded: only(in: node)).bytes))
                default: throw OfAnotherShape()
                }
            node = try next()
            guard node.identifier == .sequence, case .constructed(let pairs) = node.content else { throw OfAnotherShape() }
            let list = try pairs.map { pair in
                try DER.sequence(pair, identifier: .sequence) { fields in
                    guard let first = fields.next(), let second = fields.next() else { throw OfAnotherShape() }
                    return Pair(try Int64(derEncoded: first), try Bool(derEncoded: second))
                }
            }
            return Message(number: number, flag: flag, octets: octets, text: words, optional: optional, choice: choice, list: list)
        }
    }

    /// Writes the same with swift-asn1 alone.
    private static func writeByLibrary(_ message: Message) throws -> [UInt8] {
        var der = DER.Serializer()
        func tagged(_ number: UInt, into fields: inout DER.Serializer, _ value: some DERSerializable) throws {
            try fields.appendConstructedNode(identifier: ASN1Identifier(tagWithNumber: number, tagClass: .contextSpecific)) {
                try $0.serialize(value)
            }
        }
        try der.appendConstructedNode(identifier: .sequence) { fields in
            try fields.serialize(message.number)
            try fields.serialize(message.flag)
            try fields.serialize(ASN1OctetString(contentBytes: message.octets[...]))
            try fields.serialize(ASN1UTF8String(message.text))
            if let optional = message.optional { try tagged(0, into: &fields, optional) }
            switch message.choice {
            case .text(let text): try tagged(1, into: &fields, ASN1UTF8String(text))
            case .octets(let octets): try tagged(16, into: &fields, ASN1OctetString(contentBytes: octets[...]))
            }
            try fields.appendConstructedNode(identifier: .sequence) { list in
                for pair in message.list {
                    try list.appendConstructedNode(identifier: .sequence) { fields in
                        try fields.serialize(pair.first)
                        try fields.serialize(pair.second)
                    }
                }
            }
        }
        return der.serializedBytes
    }

    /// Every number whose form may change its length, and lengths around each limit of their forms, at every depth.
    @Test("Our writer and swift-asn1 write the same bytes") func writersAgree() throws {
        var numbers: [Int64] = [0, .max, .min]
        for place in 0..<63 { for near in -1...1 { numbers += [1 << place + Int64(near), -(1 << place) + Int64(near)] } }
        func message(_ number: Int64, _ length: Int, pairs: Int) -> Message {
            Message(
                number: number, flag: length % 2 == 0, octets: [UInt8](repeating: 7, count: length),
                text: String(repeating: "a", count: length), optional: length % 3 == 0 ? number : nil,
                choice: length % 2 == 0 ? .text(String(repeating: "ä", count: length / 2)) : .octets([UInt8](repeating: 1, count: length)),
                list: (0..<pairs).map { Pair(number &+ Int64($0), $0 == 1) })
        }
        for number in numbers {
            let value = message(number, 3, pairs: 3)
            #expect(try value.encoded() == Self.writeByLibrary(value), "\(number)")
        }
        for length in Array(0...140) + Array(240...270) + Array(65_500...65_550) + [0xFF_FFF0, 0x1_00_0010] {
            let value = message(1, length, pairs: length % 70)
            #expect(try value.encoded() == Self.writeByLibrary(value), "\(length)")
        }
    }

    /// Numbers at the limit of each length, lengths at the limit of each form, and every byte of each message changed in several ways.
    @Test("Our reader and swift-asn1 accept the same messages, and decode them to the same values") func readersAgree() throws {
        var state: UInt64 = 7
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        let numbers: [Int64] = [0, 1, -1, 127, 128, -128, -129, 255, 256, 32767, 32768, -32769, 1 << 31, .max, .min, .min + 1]
        let lengths = [0, 1, 2, 127, 128, 129, 255, 256, 257]
        var (taken, refused) = (0, 0)
        for (round, number) in numbers.enumerated() {
            for length in lengths {
                let message = Message(
                    number: number, flag: length % 2 == 0, octets: (0..<length).map { UInt8($0 & 255) },
                    text: String(repeating: "ä", count: length / 2), optional: round % 3 == 0 ? numbers[random(numbers.count)] : nil,
                    choice: round % 2 == 0 ? .text("x") : .octets([UInt8](repeating: 0x30, count: random(200))),
                    list: (0..<random(4)).map { Pair(numbers[($0 + round) % numbers.count], $0 == 1) })
                let bytes = try message.encoded()
                #expect(try Message(derBytes: bytes) == message)
                for _ in 0..<200 {
                    var changed = bytes
                    for _ in 0...random(2) {
                        let place = random(changed.count)
                        switch random(5) {
                        case 0: changed[place] = UInt8(random(256))
                        case 1: changed[place] ^= 1 << UInt8(random(8))
                        case 2: changed.insert(UInt8([0, 0x80, 0x81, 0xFF, 0x1F, 0x30][random(6)]), at: place)
                        case 3 where changed.count > 1: changed.remove(at: place)
                        default: changed = Array(changed.prefix(place + 1))
                        }
                    }
                    let (ours, library) = (try? Message(derBytes: changed), try? Self.readByLibrary(changed))
                    if (ours == library) == false { Issue.record("the readers differ over \(changed)") }
                    if ours == nil { refused += 1 } else { taken += 1 }
                }
            }
        }
        // Otherwise nothing would have been compared.
        #expect(taken > 1000)
        #expect(refused > 10_000)
    }
}
