import SecretService
import Testing

/// What the Secret Service takes of its clients and sends them, in bytes.
@Suite struct BusLimitTests {
    @Test("Values are counted as D-Bus lays them out") func valuesAreCounted() {
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

    @Test("A list of as many items as an array of 64 MiB holds fits into a message, and of one more does not")
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

    @Test("One share takes only its part of the bytes, and gets back what its calls gave back") func shareTakesItsPart() {
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

    @Test("All shares together take no more than there is") func allSharesTakeNoMore() {
        var bytes = SharedBytes<String>(ofShareMax: 100, allMax: 250)
        let first = [bytes.take(100, call: 1, for: "a"), bytes.take(100, call: 2, for: "b"), bytes.take(51, call: 3, for: "c")]
        #expect(first == [true, true, false])
        bytes.giveBack(call: 1)
        // What was given back once is not given back again.
        bytes.giveBack(call: 1)
        let second = [bytes.take(100, call: 4, for: "c"), bytes.take(50, call: 5, for: "d"), bytes.take(1, call: 6, for: "e")]
        #expect(second == [true, true, false])
    }
}
