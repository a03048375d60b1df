// Reads the access log for tests, and changes its file.

import Foundation
import GRDB
import Keychain
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanLinuxHost
import VaubanRefusal

extension Room {
    func addAny() throws { try add([.service: .text("s"), .account: .text(UUID().uuidString)]) }

    func query(_ attributes: [AttributeName: AttributeValue]) -> ItemQuery {
        var query = ItemQuery(kind: .genericPassword, attributes: ItemAttributes(attributes))
        query.returns.insert(.data)
        return query
    }

    func page(_ query: AccessLogQuery = AccessLogQuery(), as caller: Caller = Caller(user: Room.user)) throws -> AccessLogPage {
        // A long verification announces that first.
        for case .accessLog(let page) in try serve(.accessLog(query), as: caller).messages { return page }
        throw Refusal(.internalError)
    }

    func faults() throws -> [AccessLogFault] { try page(AccessLogQuery(verifies: true)).faults }

    /// Returns the whole log, the oldest record first.
    func found(as caller: Caller = Caller(user: Room.user), ofAllOwners: Bool = false) throws -> [FoundRecord] {
        var all: [FoundRecord] = []
        var query = AccessLogQuery(coversAllOwners: ofAllOwners)
        while true {
            let page = try page(query, as: caller)
            guard let last = page.records.last else { return all.reversed() }
            all += page.records
            query.before = last.number
        }
    }

    func log(as caller: Caller = Caller(user: Room.user), ofAllOwners: Bool = false) throws -> [AccessRecord] {
        try found(as: caller, ofAllOwners: ofAllOwners).compactMap(\.record)
    }

    /// Returns the last uses of an item. A search that runs out of time on a busy machine is repeated: the next one reads what is left.
    func lastUses(of item: [UInt8], as caller: Caller) throws -> LastUses {
        for _ in 0..<100 {
            let began = MachineClock.monotonic
            guard case .lastUses(let uses)? = try serve(.lastUses(of: item), as: caller).messages.first else { break }
            if uses.coversAll || MachineClock.monotonic - began < KeychainLimits.lastUsesTime { return uses }
        }
        throw Refusal(.internalError)
    }

    /// Changes the file, as a program that can write it could.
    func sqlite(_ sql: String) throws {
        let queue = try DatabaseQueue(path: file)
        try queue.write { try $0.execute(sql: sql) }
        try queue.close()
    }

    func replaceFile(by copy: String) throws {
        for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: file + suffix) {
            try FileManager.default.removeItem(atPath: file + suffix)
        }
        try FileManager.default.copyItem(atPath: copy, toPath: file)
    }
}
