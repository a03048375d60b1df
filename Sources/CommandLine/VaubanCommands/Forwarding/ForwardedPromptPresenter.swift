import Glibc
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanLinuxHost
import VaubanRefusal
import VaubanSyncModel
import VaubanUserModel

/// Shows the prompts that other devices of the circle forward, for vauban approve --devices, and sends the answers, sealed to the enclaves
/// of those devices (Specs/forwarded-prompts.md). Runs on one thread.
final class ForwardedPromptPresenter {
    /// A device whose prompts can be shown.
    private struct Forwarder {
        let file: ForwarderFile
        let cipher: FrameCipher
        /// Whether its prompt was answered here, so that its outcome must be shown.
        var isAnswered = false
    }

    private let access: CircleAccess
    private let signals: ForwardingSignals
    private let terminal: Terminal
    /// The circle as last read.
    private var view: CircleView?
    private var forwarders: [[UInt8]: Forwarder] = [:]
    /// The forwarder file of each device, as last verified or refused.
    private var forwarderFiles: [[UInt8]: [UInt8]] = [:]
    private var surfaces: [[UInt8]: TerminalSurface] = [:]
    /// The greatest number of a forwarded state that this process has seen, by the forwarder's key.
    private var numbers: [[UInt8]: Int64] = [:]
    /// The last report about a device, so that the same one is not repeated.
    private var findings: [[UInt8]: String] = [:]
    /// The devices whose files could not be read in the last pass.
    private var unreadable: Set<[UInt8]> = []
    private var afterFault = ForwardedPromptPresenter.pausesAfterFault
    private var isLocked = false

    private static var pausesAfterFault: Backoff { Backoff(from: 1_000, to: 60_000) }
    /// A prompt that is older than this by this device's clock is not shown: it has ended, or a clock is wrong. Microseconds.
    private static let ageMax: Int64 = 600_000_000

    init(_ options: UserOptions, on terminal: Terminal) throws {
        self.terminal = terminal
        let service = try ServiceAccess.current()
        access = CircleAccess(service, options)
        signals = try ForwardingSignals(of: service)
    }

    /// Shows prompts until a signal ends the process. Throws errors that the user must resolve.
    func run() throws -> Never {
        _ = try open()
        terminal.write("Prompts of your other devices appear here. Press Ctrl-C to stop.\n")
        while true {
            do {
                signals.wakeup.clear()
                let folder = try access.folder()
                try signals.watch(folder, besides: view?.device ?? [])
                guard try readForwardedPrompts(in: folder) else {
                    // Files that cannot be read now may become readable without a signal.
                    let pause = afterFault.pause()
                    _ = signals.wakeup.wait(until: MachineClock.monotonic + UInt64(pause) * 1_000_000)
                    continue
                }
                afterFault = Self.pausesAfterFault
                _ = signals.wakeup.wait(until: .max)
            } catch let refusal as Refusal where [.locked, .beforeFirstUnlock].contains(refusal.reason) {
                signals.awaitUnlock()
                _ = signals.wakeup.wait(until: .max)
            } catch let refusal as Refusal where [.unavailable, .storageFull, .badParameter].contains(refusal.reason) {
                terminal.write("Not reachable: \(refusal.detail ?? refusal.message)\n")
                signals.forgetWatch()
                access.forgetCarrier()
                poll(nil, 0, afterFault.pause())
            }
        }
    }

    private func open() throws -> (circle: SyncCircle, files: [FrameCipher]) {
        let opened = try access.open()
        try opened.circle.requireMember()
        take(opened.circle.view)
        return opened
    }

    /// Adopts the current circle. If it has changed, forwarder files are verified again.
    private func take(_ now: CircleView) {
        if now.number != view?.number || now.circle != view?.circle { (forwarders, forwarderFiles, surfaces) = ([:], [:], [:]) }
        view = now
    }

    private var devices: [CircleMember] {
        guard let view else { return [] }
        return (view.members + view.companions.map(\.device)).filter { $0.device != view.device }
    }

    /// Reads what the devices forward, and shows each new prompt. Returns whether everything could be read.
    private func readForwardedPrompts(in folder: any SyncCarrier) throws -> Bool {
        // Another device may have been removed from the circle, or this one.
        if let now = try access.knownView() {
            take(now)
            let next = SyncFolder.name(of: now.number + 1)
            if now.number < CircleRequest.numberMax, try folder.read(next, in: .circle) != nil { _ = try open() }
        }
        var reading = CarrierReading()
        try readForwarders(in: folder, &reading)
        for device in devices {
            guard let known = forwarders[device.device],
                let prompt = try reading.read(of: device, { () throws(Refusal) in try prompt(of: device, in: folder) }),
                prompt.number > numbers[known.file.verification] ?? 0
            else { continue }
            numbers[known.file.verification] = prompt.number
            switch prompt.state {
            case .asked(let request):
                guard request.isForOtherDevice, isRecent(prompt, of: device) else { continue }
                try show(request, number: prompt.number, of: device, in: folder)
            case .ended(let outcome):
                if known.isAnswered { surface(of: device).handleOutcome(outcome) }
                forwarders[device.device]?.isAnswered = false
            }
        }
        report(reading)
        return reading.faults.isEmpty
    }

    // MARK: Devices

    /// Reports each device whose files have become unreadable.
    private func report(_ reading: CarrierReading) {
        for fault in reading.faults where !unreadable.contains(fault.device.device) {
            terminal.write(
                "The prompts of \(name(of: fault.device)) cannot be read: \(fault.refusal.detail ?? fault.refusal.message).\n")
        }
        unreadable = Set(reading.faults.map(\.device.device))
    }

    /// Returns the forwarder files that have changed since they were last verified.
    private func changedForwarderFiles(in folder: any SyncCarrier, _ reading: inout CarrierReading) throws(Refusal)
        -> [(CircleMember, [UInt8])]
    {
        var found: [(CircleMember, [UInt8])] = []
        for device in devices {
            let bytes = try reading.read(of: device) { () throws(Refusal) in try folder.read(.forwarder, of: device.device) }
            if let bytes, bytes != forwarderFiles[device.device] { found.append((device, bytes)) }
        }
        try reading.requireSomething()
        return found
    }

    /// Verifies the forwarder files that have changed. This needs the keys of the circle, which are not kept afterwards.
    private func readForwarders(in folder: any SyncCarrier, _ reading: inout CarrierReading) throws {
        guard try !changedForwarderFiles(in: folder, &reading).isEmpty else { return }
        let opened: (circle: SyncCircle, files: [FrameCipher])
        do { opened = try open() } catch let refusal as Refusal where [.locked, .beforeFirstUnlock].contains(refusal.reason) {
            if !isLocked { terminal.write("The keychain is locked; unlock it to see the prompts of a device that was started again.\n") }
            isLocked = true
            return signals.awaitUnlock()
        }
        isLocked = false
        for (device, bytes) in try changedForwarderFiles(in: folder, &reading) {
            forwarderFiles[device.device] = bytes
            do throws(Refusal) {
                let file = try ForwarderFile.opened(bytes, of: device, in: opened.circle.view)
                forwarders[device.device] = Forwarder(
                    file: file, cipher: try cipher(of: device, as: file, in: opened.circle, opened.files))
                findings[device.device] = nil
            } catch {
                forwarders[device.device] = nil
                report(error.detail ?? error.message, about: device)
            }
        }
    }

    private func cipher(
        of device: CircleMember, as file: ForwarderFile, in circle: SyncCircle, _ files: [FrameCipher]
    ) throws(Refusal) -> FrameCipher {
        var files = files
        if circle.view.companions.contains(where: { $0.device == device }) {
            do { files = try circle.companionFiles(device.device) } catch {
                throw (error as? Refusal) ?? Refusal(.internalError, "the files of a companion cannot be opened")
            }
        }
        guard let newest = files.last else { throw Refusal(.internalError, "the circle has no key") }
        return file.cipher(of: device.device, in: circle.view, newest)
    }

    /// Returns a device's name, with the beginning of its identifier if another of the user's devices has the same name.
    private func name(of device: CircleMember) -> String {
        let name = SafeText.visible(device.name)
        let all = (view?.members ?? []) + (view?.companions.map(\.device) ?? [])
        guard all.contains(where: { $0.device != device.device && SafeText.visible($0.name) == name }) else { return name }
        return "\(name) \(StoredBackupFolder.hex(device.device).prefix(8))"
    }

    private func report(_ finding: String, about device: CircleMember) {
        if findings[device.device] != finding { terminal.write("\(finding).\n") }
        findings[device.device] = finding
    }

    // MARK: Prompts

    /// Returns what a device currently forwards; nil if it forwards nothing, or that cannot be verified.
    private func prompt(of device: CircleMember, in folder: any SyncCarrier) throws(Refusal) -> ForwardedPrompt? {
        guard let view, let forwarder = forwarders[device.device], let bytes = try folder.read(.prompt, of: device.device) else {
            return nil
        }
        return ForwardedPrompt.opened(bytes, of: device.device, in: view, under: forwarder.cipher, by: forwarder.file)
    }

    private func isRecent(_ prompt: ForwardedPrompt, of device: CircleMember) -> Bool {
        let age = MachineClock.referenceMicroseconds - prompt.time
        guard abs(age) > Self.ageMax else { return true }
        report(
            "A prompt of \(name(of: device)) is dated \(StatusText.time(prompt.time)) and is not shown; "
                + "if it is new, set the clocks right", about: device)
        return false
    }

    private func surface(of device: CircleMember) -> TerminalSurface {
        let surface = surfaces[device.device] ?? TerminalSurface(terminal, showsOutcome: true, of: name(of: device))
        surfaces[device.device] = surface
        return surface
    }

    private func show(_ request: PromptRequest, number: Int64, of device: CircleMember, in folder: any SyncCarrier) throws {
        guard let forwarder = forwarders[device.device] else { return }
        let surface = surface(of: device)
        // A device that was switched off does not report that its prompt has ended.
        let deadline = MachineClock.boot + ConnectionLimits.userTimeout
        let withdrawal = try ForwardedWithdrawal(signals.wakeup, until: deadline) { [self] in
            // A file that cannot be read now may become readable before the user's timeout.
            if let bytes = try? folder.read(.forwarder, of: device.device), bytes != forwarderFiles[device.device] { return true }
            guard let now = try? prompt(of: device, in: folder) else { return false }
            return now.number > number
        }
        let response = surface.ask(request.forOtherDevice, withdrawal: withdrawal)
        // Other devices may have forwarded prompts in the meantime.
        signals.wakeup.signal()
        guard let answer = PromptAnswer(response, to: request, sealedTo: forwarder.file.card, user: request.user) else {
            if case .ended(let outcome)? = (try? prompt(of: device, in: folder))?.state {
                surface.handleOutcome(outcome)
            } else if withdrawal.hasExpired {
                surface.handleOutcome(.expired)
            }
            return
        }
        let bytes = try ForwardedAnswer(to: request.challenge.nonce, answer).sealed(for: device.device, forwarder.cipher)
        do { try folder.replace(.answer, of: device.device, with: bytes) } catch {
            numbers[forwarder.file.verification] = number - 1
            terminal.write("Your answer could not be sent; the prompt is shown again if it is still open.\n")
            throw error
        }
        // The prompt's outcome arrives the same way, which may take a while.
        terminal.write("Sent to “\(name(of: device))”.\n")
        forwarders[device.device]?.isAnswered = true
    }
}
