// A search through all orders of some operations by three devices that synchronize.

import VaubanSyncModel

/// A search through every order. Operations without effect are skipped, since the order without them is searched too.
struct SyncedSearch {
    /// The operations so far, in words.
    struct Path {
        private(set) var words: [String]

        init(_ words: [String]) { self.words = words }

        func adding(_ word: String) -> Path { Path(words + [word]) }
    }

    /// Which of the others' files have been carried to a device when it runs. Late files may arrive at any later run.
    private enum Delivery: CaseIterable {
        case all
        /// All files twice, newest first.
        case doubledAndReversed
        /// What one of the other devices wrote.
        case first, second
        /// Only the first half of each device's files.
        case beginnings
        /// Only the newest change of each device: the earlier ones are missing until the end.
        case newest

        func changes(_ logs: [[SyncedChange]]) -> [SyncedChange] {
            switch self {
            case .all: logs.flatMap { $0 }
            case .doubledAndReversed: logs.flatMap { $0 }.reversed() + logs.flatMap { $0 }.reversed()
            case .first: logs.first ?? []
            case .second: logs.last ?? []
            case .beginnings: logs.flatMap { $0.prefix(($0.count + 1) / 2) }
            case .newest: logs.compactMap(\.last)
            }
        }
    }

    /// The items that are written, deleted, undeleted and renamed.
    private static let names: [[UInt8]] = [[1], [2]]

    private(set) var count = 0
    /// The first order that ended with a fault, and that fault.
    private(set) var fault: String?

    /// Checks a world now, and after every order of up to `operations` further operations.
    mutating func follow(_ world: SyncedWorld, _ path: Path, operations: Int) {
        guard fault == nil else { return }
        count += 1
        var end = world
        end.exchangeAll(count % 2 == 0 ? { $0 } : { $0.reversed() + $0 })
        if let found = end.fault { fault = "\(path.words.joined(separator: ", ")): \(found)" }
        guard operations > 0 else { return }
        for number in world.devices.indices {
            for name in Self.names {
                for step in [SyncedWorld.Step.write, .delete, .undelete, .rename] where world.isEffective(step, by: number, on: name) {
                    var next = world
                    next.take(step, by: number, on: name)
                    follow(next, path.adding("\(step) of \(name) by \(number)"), operations: operations - 1)
                }
            }
            var known: [[Delivered]] = []
            for delivery in Delivery.allCases {
                let changes = delivery.changes(world.logs(besides: number))
                let names = changes.map { Delivered(name: $0.name, stamp: $0.stamp) }
                guard !known.contains(names), !changes.isEmpty || world.devices[number].hasNews else { continue }
                known.append(names)
                var next = world
                next.time += 10
                next.devices[number].run(reading: changes, at: next.time)
                follow(next, path.adding("run of \(number) with \(delivery)"), operations: operations - 1)
            }
        }
    }
}

/// A change, to compare what was delivered.
private struct Delivered: Hashable {
    let name: [UInt8]
    let stamp: SyncStamp
}

extension SyncedWorld {
    /// Returns whether a step changes anything.
    fileprivate func isEffective(_ step: Step, by number: Int, on name: [UInt8]) -> Bool {
        let keychain = devices[number].keychain
        switch step {
        case .write, .exchange: return true
        case .delete: return keychain.items[name] != nil
        case .undelete: return keychain.items[name] == nil && keychain.deleted[name] != nil
        case .rename: return keychain.items[name] != nil && keychain.items[Self.newName(of: name)] == nil
        }
    }
}
