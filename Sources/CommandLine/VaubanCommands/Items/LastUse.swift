// When and by which program an item was last read, used as a private key, and changed, for vauban show.

package import Foundation
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanKeychainWire

extension ServiceClient {
    /// Returns the last uses of an item from the access log; nil if it cannot be read, or the item has another owner.
    func lastUses(of record: ItemRecord) -> LastUses? {
        guard var query = try? query(for: record) else { return nil }
        query.returns.insert(.reference)
        query.authenticationUI = .describe
        guard let item = try? found(query).first?.reference else { return nil }
        return try? keychain.lastUses(of: item)
    }
}

extension ItemDescription {
    /// Returns the description with the last uses.
    func adding(_ uses: LastUses?) -> ItemDescription {
        guard let uses else { return self }
        var described = self
        let isSignature = uses.keyUsed?.record?.action == .signed
        let keyUse = isSignature ? ("lastSigned", "Last signed", uses.keyUsed) : ("lastDecrypted", "Last decrypted", uses.keyUsed)
        for (key, title, found) in [("lastRead", "Last read", uses.read), keyUse, ("lastChanged", "Last changed", uses.changed)] {
            guard let record = found?.record else { continue }
            described.parts.append(Part(key: key, title: title, value: .use(Use(record))))
        }
        return described
    }

    /// A use, for display.
    package struct Use: Hashable, Encodable {
        package let date: Date
        /// The program, for display.
        fileprivate let shown: String?
        package let program: String?
        package let application: String?
        package let throughCommandLine: Bool?

        init(_ record: AccessRecord) {
            date = Date(microseconds: record.ended)
            shown = record.program?.shown
            program = record.program?.path
            application = record.program?.application
            throughCommandLine = record.program?.throughCommandLine
        }

        private enum CodingKeys: CodingKey { case date, program, application, throughCommandLine }

        var text: String { StatusText.time(date) + (shown.map { " by \($0)" } ?? "") }
    }
}
