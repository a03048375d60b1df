import SecretService
import Testing

/// The number of bytes that the Secret Service accepts from its clients and sends them.
@Suite struct BusLimitTests {
    @Test("The size of a value follows the layout of D-Bus") func valuesAreCounted() {
        var size = MessageSize()
        size.addNumber(bytes: 1)
        size.addText(bytes: 3)
        #expect(size.bytes == 12)
        size.addNumber(bytes: 8)
        #expect(size.bytes == 24)
        size.addArray(alignment: 8) { $0.addText(bytes: 0) }
        #expect(size.bytes == 37)
        #expect(size.fits)
    }

    @Test("A list of items that fills an array of 64 MiB fits into a message, and one more item does not")
    func longListDoesNotFit() {
        // The paths of items of the collection `login`.
        let pathBytes = "/org/freedesktop/secrets/collection/login/0123456789abcdef0123456789abcdef".utf8.count
        func size(_ count: Int) -> MessageSize {
            var size = MessageSize()
            size.addArray(alignment: 4) { array in
                for _ in 0..<count { array.addText(bytes: pathBytes) }
            }
            return size
        }
        #expect(size(838_860).fits)
        #expect(!size(838_861).fits)
    }

    @Test("Two arrays that fit alone do not fit into one message") func messageIsLimitedToo() {
        var size = MessageSize()
        size.addArray(alignment: 4) { $0.addText(bytes: MessageSize.arrayBytesMax - 5) }
        #expect(size.fits)
        size.addArray(alignment: 4) { $0.addText(bytes: MessageSize.arrayBytesMax - 5) }
        #expect(!size.fits)
    }

    @Test("A caller takes only its share of the bytes, and calls that end return theirs") func shareTakesItsPart() {
        var bytes = SharedBytes<String>(ofShareMax: 100, allMax: 250)
        let first = [bytes.take(60, call: 1, for: "a"), bytes.take(40, call: 2, for: "a"), bytes.take(1, call: 3, for: "a")]
        #expect(first == [true, true, false])
        let other = bytes.take(100, call: 4, for: "b")
        #expect(other)
        bytes.giveBack(call: 3)
        bytes.giveBack(call: 2)
        let second = [bytes.take(41, call: 5, for: "a"), bytes.take(40, call: 6, for: "a")]
        #expect(second == [false, true])
    }

    @Test("All callers together take no more bytes than the limit") func allSharesTakeNoMore() {
        var bytes = SharedBytes<String>(ofShareMax: 100, allMax: 250)
        let first = [bytes.take(100, call: 1, for: "a"), bytes.take(100, call: 2, for: "b"), bytes.take(51, call: 3, for: "c")]
        #expect(first == [true, true, false])
        bytes.giveBack(call: 1)
        // Bytes are returned only once.
        bytes.giveBack(call: 1)
        let second = [bytes.take(100, call: 4, for: "c"), bytes.take(50, call: 5, for: "d"), bytes.take(1, call: 6, for: "e")]
        #expect(second == [true, true, false])
    }
}
