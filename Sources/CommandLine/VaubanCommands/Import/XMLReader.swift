import CVaubanXML
import VaubanRefusal

/// Receives the contents of an XML document, in order. An error ends the reading.
protocol XMLReceiver: AnyObject {
    func begin(_ name: String, _ attributes: [String: String], line: Int) throws(Refusal)
    func end() throws(Refusal)
    /// Takes a piece of text, in UTF-8; an element may have several.
    func text(_ bytes: UnsafeRawBufferPointer) throws(Refusal)
}

/// A reader of XML that parses with Expat, in memory that is overwritten, and limits nesting. It refuses a document type, so there are no
/// entities: neither ones that expand nor ones that name a file.
enum XMLReader {
    private static let depthMax = 128

    /// Reads a document. Throws if it is damaged; rethrows the receiver's error.
    static func read(_ bytes: UnsafeRawBufferPointer, into receiver: any XMLReceiver) throws(Refusal) {
        let reading = XMLReading(receiver)
        var line = 0
        let outcome = withExtendedLifetime(reading) {
            var handlers = reading.handlers
            return vauban_xml_read(bytes.baseAddress, bytes.count, &handlers, depthMax, &line)
        }
        switch outcome {
        case VAUBAN_XML_WHOLE: return
        case VAUBAN_XML_STOPPED: throw reading.failure ?? Refusal(.internalError)
        case VAUBAN_XML_HAS_TYPE:
            throw Refusal(.badParameter, "The XML has a document type, which no export has; nothing was imported")
        case VAUBAN_XML_TOO_DEEP: throw Refusal(.badParameter, "Line \(line) of the XML is nested too deeply; nothing was imported")
        default: throw Refusal(.badParameter, "The XML is damaged or incomplete at line \(line); nothing was imported")
        }
    }
}

/// One document that is being read: the receiver for C's handlers, and its error.
private final class XMLReading {
    private let receiver: any XMLReceiver
    private(set) var failure: Refusal?

    init(_ receiver: any XMLReceiver) { self.receiver = receiver }

    /// The handlers, which must not outlive this object.
    var handlers: vauban_xml_handlers {
        vauban_xml_handlers(
            context: Unmanaged.passUnretained(self).toOpaque(),
            begin: { context, name, attributes, line in
                guard let reading = XMLReading.of(context), let name else { return 0 }
                let (element, values) = (String(cString: name), XMLReading.values(attributes))
                return reading.deliver { receiver throws(Refusal) in try receiver.begin(element, values, line: line) }
            },
            end: { context in XMLReading.of(context)?.deliver { receiver throws(Refusal) in try receiver.end() } ?? 0 },
            text: { context, bytes, count in
                let piece = UnsafeRawBufferPointer(start: bytes, count: count)
                return XMLReading.of(context)?.deliver { receiver throws(Refusal) in try receiver.text(piece) } ?? 0
            })
    }

    /// Returns 1, or 0 if the receiver throws.
    private func deliver(_ work: (any XMLReceiver) throws(Refusal) -> Void) -> Int32 {
        do throws(Refusal) { try work(receiver) } catch {
            failure = error
            return 0
        }
        return 1
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> XMLReading? {
        context.map { Unmanaged<XMLReading>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Returns the attributes of an element from a list of alternating names and values.
    private static func values(_ list: UnsafePointer<UnsafePointer<CChar>?>?) -> [String: String] {
        var values: [String: String] = [:]
        var place = list
        while let pair = place, let name = pair[0], let value = pair[1] {
            values[String(cString: name)] = String(cString: value)
            place = pair + 2
        }
        return values
    }
}
