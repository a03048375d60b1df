import VaubanKeychainClient
import VaubanLinuxHost
import VaubanRefusal
import VaubanSyncModel

/// Reading on a companion: only the newest change of each item is applied, so that the item's history here has no earlier changes by the
/// members.
extension SyncRun {
    private struct Received {
        let record: SyncRecord
        let epoch: Int64
        let writer: String
    }

    /// What was read, before any of it is applied.
    private struct Reading {
        var newest: [[UInt8]: Received] = [:]
        /// Changes that are dated too far ahead, by the members' rule too. They are kept apart, so that none of them hides a change that
        /// counts.
        var ahead: [Received] = []
        var trails: [[UInt8]: SyncTrail]
        var notes: [(position: SyncPosition, report: SyncState.Report)] = []
        var statements: [(mark: StatementMark, writer: [UInt8])] = []

        mutating func read(_ stream: SyncStream, fromStart: Bool) throws(Refusal) {
            let writer = stream.writer.device
            let listed = try stream.numbers(trails[writer] ?? SyncTrail())
            var position = fromStart ? SyncPosition() : trails[writer]?.position ?? SyncPosition()
            while let next = try stream.next(after: position, trails[writer] ?? SyncTrail(), listed: listed) {
                position = next.position
                for record in next.file.records {
                    let received = Received(record: record, epoch: next.epoch, writer: stream.name)
                    if SyncStamp.isTooFarAhead(max(record.stamp.time, record.changed), now: MachineClock.referenceMicroseconds) {
                        ahead.append(received)
                    } else if newest[record.name].map({ $0.record.stamp < record.stamp }) ?? true {
                        newest[record.name] = received
                    }
                }
                guard next.isNew else { continue }
                trails[writer, default: SyncTrail()].append(next.bytes)
                if let statement = next.file.statement { statements.append((statement, writer)) }
                for member in stream.circle.members where member.device != writer {
                    guard let read = next.file.seen[member.device] else { continue }
                    notes.append((read, SyncState.Report(reader: writer, writer: member.device)))
                }
            }
        }
    }

    /// Reads what every member wrote for this companion. Returns false if an item was changed here in the meantime; then nothing counts as
    /// read.
    mutating func receiveAll() throws -> Bool {
        var reading = Reading(trails: state.seen)
        var isUnread = false
        for member in circle.view.members {
            let stream = SyncStream(
                folder: circle.folder, circle: circle.view, ciphers: files, writer: member, companion: circle.view.device)
            do {
                try reading.read(stream, fromStart: state.rereads)
            } catch {
                guard [.badParameter, .unsupported, .keyUnknown].contains(error.reason) else { throw error }
                faults.append(error.detail ?? error.message)
                isUnread = true
            }
        }
        for change in reading.ahead { notMadeYet(change.record, of: change.writer) }
        for change in reading.newest.values.sorted(by: { $0.record.stamp < $1.record.stamp }) {
            guard try merge(change.record, epoch: change.epoch, of: change.writer, in: nil) else { return false }
        }
        state.seen = reading.trails
        for note in reading.notes { state.note(note.position, note.report) }
        for statement in reading.statements { state.statements.note(statement.mark, by: statement.writer) }
        state.rereads = triesAgain || (state.rereads && isUnread)
        try save()
        return true
    }
}
