import Crypto
import Foundation

/// A file of Vectors/wycheproof.
struct Vectors {
    let groups: [VectorGroup]
    let count: Int

    init(_ name: String, file: String = #filePath) throws {
        let root = URL(fileURLWithPath: file).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let data = try Data(contentsOf: root.appendingPathComponent("Vectors/wycheproof/\(name).json"))
        guard let whole = try JSONSerialization.jsonObject(with: data) as? [String: Any],
            let groups = whole["testGroups"] as? [[String: Any]],
            let count = whole["numberOfTests"] as? Int
        else { throw CocoaError(.fileReadCorruptFile) }
        self.groups = groups.map(VectorGroup.init)
        self.count = count
    }
}

struct VectorGroup {
    private let fields: [String: Any]
    init(_ fields: [String: Any]) { self.fields = fields }
    subscript(_ name: String) -> Any? { fields[name] }
    var tests: [Vector] { (fields["tests"] as? [[String: Any]] ?? []).map(Vector.init) }
}

struct Vector {
    private let fields: [String: Any]
    init(_ fields: [String: Any]) { self.fields = fields }
    var number: Int { fields["tcId"] as? Int ?? -1 }
    var result: String { text("result") }
    func text(_ name: String) -> String { fields[name] as? String ?? "" }
    func bytes(_ name: String) -> Data { Data(hex: text(name)) }
}

/// The external form of a private key whose number alone is known.
enum PublicHalf {
    static func x963(of number: Data) -> Data? {
        switch number.count {
        case 32: (try? P256.KeyAgreement.PrivateKey(rawRepresentation: number))?.x963Representation
        case 48: (try? P384.KeyAgreement.PrivateKey(rawRepresentation: number))?.x963Representation
        default: (try? P521.KeyAgreement.PrivateKey(rawRepresentation: number))?.x963Representation
        }
    }
}

extension Data {
    init(hex: String) { self.init(hex.hexBytes) }
}

extension String {
    var hexBytes: [UInt8] {
        let digits = Array(utf8)
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap { start in
            UInt8(String(decoding: digits[start...start + 1], as: UTF8.self), radix: 16)
        }
    }
}
