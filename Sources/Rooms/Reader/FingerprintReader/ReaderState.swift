// The reader's stored state: its pairing key, and a mark for each user whose fingers it enrolled.

internal import EnclaveWire
internal import Synchronization
internal import VaubanDER
internal import VaubanLinuxHost
internal import VaubanSecretBytes

/// A secret that several threads may use.
final class KeptSecret: Sendable {
    let bytes: SecretBytes
    init(_ bytes: consuming SecretBytes) { self.bytes = bytes }

    /// Returns a secret of the one length that the enclave's wire has; nil for any other.
    static func ofOptional(_ secret: consuming SecretBytes?) -> KeptSecret? {
        guard let secret = secret.take(), secret.count == 32 else { return nil }
        return KeptSecret(secret)
    }
}

/// `Mark ::= SEQUENCE { user INTEGER, mark OCTET STRING (SIZE (32)) }`
private struct Mark: DERReadable, DERWritable {
    let user: UInt32
    let mark: [UInt8]

    init(user: UInt32, mark: [UInt8]) {
        self.user = user
        self.mark = mark
    }

    init(from fields: inout DERFields) throws {
        user = UInt32(try fields.integer("user", in: 0...Int64(UInt32.max)))
        mark = try fields.octets("mark", in: 32...32)
    }

    func write(into der: inout DERWriter) throws {
        try der.sequence {
            try $0.integer(Int64(user)); try $0.octets(mark)
        }
    }
}

/// `Marks ::= SEQUENCE { version INTEGER (1), marks SEQUENCE (SIZE (0..4096)) OF Mark }`
private struct Marks: DERReadable, DERWritable {
    var list: [Mark]

    init(_ list: [Mark]) { self.list = list }

    init(from fields: inout DERFields) throws {
        try fields.version(1)
        list = try fields.list("marks", max: ReaderLimits.usersMax)
    }

    func write(into der: inout DERWriter) throws {
        try der.sequence {
            try $0.integer(1); try $0.list(list)
        }
    }
}

final class ReaderState: Sendable {
    private static let keyBytes = 32
    private let pairing: DurableFile
    private let enrollments: DurableFile
    private let marks: Mutex<[UInt32: [UInt8]]>

    /// Reads the folder. An unreadable list of marks counts as missing: every enrollment then ends, since its digest changes.
    init(in folder: PrivateFolder) throws {
        pairing = DurableFile("pairing", in: folder)
        enrollments = DurableFile("enrollments", in: folder)
        var known: [UInt32: [UInt8]] = [:]
        if case .bytes(let bytes) = try enrollments.read(max: ReaderLimits.stateBytesMax, syncing: true),
            let read = try? Marks(derBytes: bytes)
        {
            for mark in read.list { known[mark.user] = mark.mark }
        }
        marks = Mutex(known)
    }

    // MARK: The pairing

    /// Returns the pairing key; nil if there is none or it is damaged.
    func key() throws(SystemError) -> KeptSecret? {
        guard case .bytes(var bytes) = try pairing.read(max: Self.keyBytes, syncing: true) else { return nil }
        defer { for index in bytes.indices { bytes[index] = 0 } }
        return bytes.count == Self.keyBytes ? KeptSecret(SecretBytes(copying: bytes)) : nil
    }

    func setKey(_ key: KeptSecret) throws(SystemError) {
        let result: Result<Void, SystemError> = key.bytes.withUnsafeBytes { bytes in
            do throws(SystemError) { return .success(try pairing.replace(with: bytes)) } catch { return .failure(error) }
        }
        try result.get()
    }

    func forgetKey() { pairing.folder.remove(pairing.name) }

    // MARK: The marks

    /// All users who have a mark.
    var users: [UInt32] { marks.withLock { Array($0.keys) } }

    /// Returns the user's mark, and creates one if there is none. It is part of the digest of the user's fingers and changes with each
    /// enrollment, so that a finger that replaces another under the same name results in another digest.
    func mark(of user: UInt32) throws(SystemError) -> [UInt8] {
        if let mark = marks.withLock({ $0[user] }) { return mark }
        return try renew(user)
    }

    @discardableResult
    func renew(_ user: UInt32) throws(SystemError) -> [UInt8] {
        let mark = try Entropy.bytes(32)
        try change { $0[user] = mark }
        return mark
    }

    func removeMark(of user: UInt32) throws(SystemError) { try change { $0[user] = nil } }

    private func change(_ change: (inout [UInt32: [UInt8]]) -> Void) throws(SystemError) {
        let result: Result<Void, SystemError> = marks.withLock { marks in
            var changed = marks
            change(&changed)
            do throws(SystemError) {
                let list = changed.sorted { $0.key < $1.key }.map { Mark(user: $0.key, mark: $0.value) }
                guard list.count <= ReaderLimits.usersMax, let bytes = try? Marks(list).encoded() else {
                    throw SystemError("store the marks of so many users", code: 0)
                }
                try enrollments.replace(with: bytes)
            } catch {
                return .failure(error)
            }
            marks = changed
            return .success(())
        }
        try result.get()
    }
}
