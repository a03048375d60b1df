import VaubanKeychainClient
import VaubanKeychainWire
import VaubanLinuxHost
import VaubanLogHead
import VaubanRefusal
import VaubanSignedNote
import VaubanSyncModel

/// Reporting to the other members how far this device's access log goes, and remembering how far theirs go (Specs/sync.md, "The ends of the
/// access logs").
extension SyncRun {
    /// Reads the members' reports, and writes this device's own. A fault in a log does not keep items from being synchronized.
    mutating func exchangeHeads(isWriting: Bool) throws {
        var memory = try circle.rememberedHeads(stateCipher)
        let (members, own) = (circle.view.members, circle.view.device)
        memory.devices = memory.devices.filter { known in members.contains { $0.device == known.key } }
        let reply = try circle.client.keychain.logHead()
        guard let note = SignedNote(reply.head.note), let end = reply.end, let key = reply.head.noteKeys.first,
            let cosigner = NoteKey(text: reply.head.cosigner.text)
        else {
            throw Refusal(.internalError, "the enclave signed something else")
        }
        // Earlier ends of this device's log, as remembered here and reported by others.
        var reported = [memory.devices[own]?.note].compactMap(\.self)
        var last: LogHeadFile?
        for member in members {
            guard let file = readHeads(of: member) else { continue }
            if member.device == own {
                last = file
                reported.append(file.note)
            } else if file.note.head?.origin == end.origin {
                // This device was a member under another identifier before, which is not removed yet.
                reported.append(file.note)
            } else {
                try take(file, of: member, into: &memory)
                if let seen = file.seen[own], file.cosigner.cosignatureTime(in: seen) != nil { reported.append(seen) }
            }
        }
        let time = max(MachineClock.referenceMicroseconds, (memory.devices[own]?.time ?? 0) + 1, (last?.time ?? 0) + 1)
        let setback = try memory.devices[own]?.setback ?? setback(since: reported, end, at: time)
        let file = LogHeadFile(
            time: time, note: note, key: key, cosigner: cosigner,
            seen: memory.devices.filter { $0.key != own }.mapValues(\.note))
        // The file's epoch tells the others that this device has followed the last removal.
        if isWriting, last.map({ !$0.hasSameContent(as: file) || $0.epoch < circle.view.epoch }) ?? true {
            let bytes = try file.sealed(in: circle.view, newestCipher()) { try circle.sign($0) }
            try circle.folder.replace(bytes, named: StoredBackupFolder.hex(own), in: .heads)
        }
        memory.devices[own] = LogHeadMemory.Device(time: time, note: note, setback: setback, cosigner: file.cosigner)
        try circle.home.keepHeads(try stateCipher.seal(memory.bytes, .syncHeads))
        for member in members {
            guard let setback = memory.devices[member.device]?.setback else { continue }
            logFaults.append(setback.sentence(about: member.device == own ? "this device" : SafeText.visible(member.name)))
        }
    }

    private func newestCipher() throws(Refusal) -> FrameCipher {
        guard let cipher = files.last else { throw Refusal(.internalError) }
        return cipher
    }

    /// Returns a member's report; nil if there is none, or it cannot be read.
    private mutating func readHeads(of member: CircleMember) -> LogHeadFile? {
        do throws(Refusal) {
            return try heads(of: member)
        } catch {
            logFaults.append("\(error.detail ?? error.message).")
            return nil
        }
    }

    /// Returns a member's report; nil if there is none.
    func heads(of member: CircleMember) throws(Refusal) -> LogHeadFile? {
        guard let bytes = try circle.folder.read(StoredBackupFolder.hex(member.device), in: .heads) else { return nil }
        return try LogHeadFile.opened(bytes, of: member, in: circle.view, files)
    }

    /// Cosigns and remembers the end of another device's log, unless it is an earlier one.
    private mutating func take(_ file: LogHeadFile, of member: CircleMember, into memory: inout LogHeadMemory) throws {
        let finding = memory.finding(in: file, of: member.device)
        var known = memory.devices[member.device]
        switch finding {
        case .news:
            known = LogHeadMemory.Device(
                time: file.time, note: try cosigned(file.note), setback: known?.setback, own: known?.own, cosigner: file.cosigner)
        case .nothingNew: known?.time = file.time
        case .setback(let setback):
            known?.time = file.time
            // Keep the first setback.
            if known?.setback == nil { known?.setback = setback }
        case .earlierFile:
            logFaults.append(
                "What \(SafeText.visible(member.name)) says of the access logs is older than what was read before: the folder was put "
                    + "back to an earlier state, or is not copied completely.")
            return
        }
        known?.cosigner = file.cosigner
        if let seen = file.seen[circle.view.device], file.cosigner.cosignatureTime(in: seen) != nil { known?.own = seen }
        memory.devices[member.device] = known
    }

    private func cosigned(_ note: SignedNote) throws(Refusal) -> SignedNote {
        let reply = try circle.client.keychain.logHead(LogHeadQuery(LogHeadRequest(cosigning: note.bytes)))
        guard let cosigned = SignedNote(reply.head.note), cosigned.text == note.text else {
            throw Refusal(.internalError, "the enclave cosigned something else")
        }
        return cosigned
    }

    /// Compares this device's log with earlier ends of it, and ignores those that this keychain did not sign. Records that are missing only
    /// in the database are not a setback: vauban log reports them.
    private func setback(since notes: [SignedNote], _ end: LogHead, at time: Int64) throws(Refusal) -> LogHeadMemory.Setback? {
        for note in notes {
            let (head, comparison): (LogHead, HeadComparison)
            do throws(Refusal) { (head, comparison) = try circle.client.keychain.compare(note) } catch {
                guard error.reason == .badParameter else { throw error }
                continue
            }
            switch comparison {
            case .shorter: return LogHeadMemory.Setback(seen: head.number, found: end.number, time: time)
            case .another: return LogHeadMemory.Setback(seen: head.number, found: head.number, time: time)
            case .contained, .missing, .notKept: continue
            }
        }
        return nil
    }
}

extension SyncCircle {
    /// Returns what this device remembers of the members' logs.
    func rememberedHeads(_ cipher: FrameCipher) throws -> LogHeadMemory {
        guard let sealed = try home.heads() else { return LogHeadMemory() }
        guard let memory = cipher.open(sealed, .syncHeads).flatMap({ LogHeadMemory($0) }) else {
            throw Refusal(
                .badParameter,
                "\(SafeText.visible(home.headsPath)) is damaged; remove it and run vauban sync again. This device then forgets how far the "
                    + "access logs of the others went")
        }
        return memory
    }
}

extension SyncCircle {
    /// Returns the newest end of this device's log that other devices have seen, with their cosignatures.
    func cosignedHead(_ keys: [NoteKey]) throws -> ShownHead {
        guard view.circle != nil, !view.isCompanion else {
            throw Refusal(.notAllowedHere, "Only a member of a circle has an end of its log that others have seen; see: vauban help sync")
        }
        // The order must be the same each time.
        let devices = try rememberedHeads(try open().state).devices.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
        let known = devices.compactMap { device in device.own.map { ($0, device.cosigner) } }
        guard let newest = known.max(by: { ($0.0.head?.number ?? 0) < ($1.0.head?.number ?? 0) })?.0 else {
            throw Refusal(.itemNotFound, "No other device has seen this device's log yet; run vauban sync here, there, and here again")
        }
        var note = SignedNote(text: newest.text, signatures: [])
        for other in known where other.0.text == newest.text {
            note.signatures += other.0.signatures.filter { !note.signatures.contains($0) }
        }
        return ShownHead(note: note.bytes, keys: keys + known.filter { $0.0.text == newest.text }.map(\.1))
    }
}

extension LogHeadMemory.Device {
    /// The text of vauban sync status about this device's log.
    var words: String {
        let time = StatusText.time(self.time)
        let own = own?.head.map { "; it has seen this device's up to \($0.number)" } ?? ""
        return "up to record \(note.head?.number ?? 0), \(time)\(own)"
    }
}

extension LogHeadMemory.Setback {
    func sentence(about device: String) -> String {
        let what =
            found < seen
            ? "ended with log record \(seen), and later with \(found)" : "has another log record \(seen) than the one that was seen"
        return
            "The access log of \(device) \(what). Unless you restored it from a copy, that machine may have been tampered with: "
            + "an earlier state of it was put back, and its log does not show what was done meanwhile. To end this: "
            + "vauban sync leave there, remove it here, and join again."
    }
}
