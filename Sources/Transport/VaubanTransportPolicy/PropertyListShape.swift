import Foundation

/// Checks the form of a property list before Foundation's recursive parser reads it.
enum PropertyListShape {
    static func check(_ data: Data, depthMax: Int) throws(TransportConfigurationError) {
        let bytes = [UInt8](data)
        if bytes.starts(with: Array("bplist".utf8)) {
            var shape = BinaryPropertyListShape(bytes, depthMax: depthMax)
            try shape.check()
        } else if isXML(bytes) {
            try checkXML(bytes, depthMax: depthMax)
        } else {
            // This includes the text format of NeXTSTEP, which Apple's tools no longer write.
            throw .notAPropertyList
        }
    }

    private static func isXML(_ bytes: [UInt8]) -> Bool {
        var start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]
        start = start.drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
        return start.first == UInt8(ascii: "<")
    }

    /// Follows the elements that contain others, and skips what Foundation's parser skips: comments, character data, and instructions.
    private static func checkXML(_ bytes: [UInt8], depthMax: Int) throws(TransportConfigurationError) {
        var depth = 0
        var rest = bytes[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[start...]
            if let end = skipped.first(where: { rest.starts(with: $0.opening) })?.closing {
                rest = try after(end, in: rest)
                continue
            }
            guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { throw .notAPropertyList }
            let tag = rest[(start + 1)..<end]
            rest = rest[(end + 1)...]
            // Declarations inside the document type could define entities.
            if tag.first == UInt8(ascii: "!"), tag.contains(UInt8(ascii: "[")) { throw .notAPropertyList }
            let isClosing = tag.first == UInt8(ascii: "/")
            let name = tag.drop { $0 == UInt8(ascii: "/") }.prefix { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
            guard containers.contains(where: { name.elementsEqual($0) }) else { continue }
            if isClosing {
                depth = max(0, depth - 1)
            } else if tag.last != UInt8(ascii: "/") {
                depth += 1
                if depth > depthMax { throw .tooDeep }
            }
        }
    }

    private static let containers = [Array("plist".utf8), Array("dict".utf8), Array("array".utf8)]
    private static let skipped: [(opening: [UInt8], closing: [UInt8])] = [
        (Array("<!--".utf8), Array("-->".utf8)), (Array("<![CDATA[".utf8), Array("]]>".utf8)), (Array("<?".utf8), Array("?>".utf8)),
    ]

    private static func after(_ end: [UInt8], in bytes: ArraySlice<UInt8>) throws(TransportConfigurationError) -> ArraySlice<UInt8> {
        var index = bytes.startIndex
        while index + end.count <= bytes.endIndex {
            if bytes[index] == end[0], bytes[index..<(index + end.count)].elementsEqual(end) { return bytes[(index + end.count)...] }
            index += 1
        }
        throw .notAPropertyList
    }
}
