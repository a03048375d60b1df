/// The networks that root allows in a file: one block or address a line. `#` begins a comment.
package struct NetworkList: Equatable, Sendable {
    package private(set) var networks: [NetworkBlock] = []
    /// The numbers of invalid lines, counted from 1; such lines allow nothing.
    package private(set) var unreadableLines: [Int] = []

    package init(_ text: String) {
        // A line ends with a line feed, with or without a carriage return before it; Swift would treat the two as one character.
        for (index, line) in text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            let bytes = line.prefix { $0 != 0x23 }
            let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0D }
            let words = bytes.split(whereSeparator: isBlank)
            guard let word = words.first else { continue }
            if words.count == 1, let block = NetworkBlock(String(decoding: word, as: UTF8.self)) {
                networks.append(block)
            } else {
                unreadableLines.append(index + 1)
            }
        }
    }
}
