internal import VaubanAccessPolicy
internal import VaubanLinuxHost
package import VaubanUserModel

/// A prompt laid out for a terminal. The sentences are those of `PromptWords`; only the meaning of the keys is specific to the terminal.
package struct TerminalPrompt {
    private let request: PromptRequest
    /// The form of the same prompt that this terminal showed before.
    private let last: PromptRequest?
    /// The device that sent the prompt, if it is not this one.
    private let device: String?

    package init(_ request: PromptRequest, after last: PromptRequest? = nil, of device: String? = nil) {
        self.request = request
        self.device = device
        self.last = last.flatMap { $0.prompt == request.prompt ? $0 : nil }
    }

    package static let cancelHint = "Ctrl-C or an empty line cancels"

    /// Returns everything above the instruction; after a miss only what was wrong, since the rest is still on the screen.
    package func head(notes: [String] = []) -> String {
        let attempt = "Attempt \(request.attempt) of \(PromptRequest.attemptsMax)."
        if let missed {
            let isDisabledNow = request.state.finger == .disabled && missed.state.finger != .disabled
            let news = isDisabledNow ? PromptWords.disabled(request.state.fingersLeft) : nil
            return lines(["\(PromptWords.miss(request, after: missed)) \(attempt)", news, wait].compactMap(\.self))
        }
        let caller = request.caller
        var text = ["", PromptWords.title]
        if let device { text.append(row("Device", "“\(device)”")) }
        text.append(row("Program", "\(PromptWords.name(of: caller)) (\(PromptWords.origin(of: caller)))"))
        text += PromptWords.cautions(caller).map { row(nil, $0.isWarning ? "WARNING: \($0.text)" : $0.text) }
        text.append(row("Action", PromptWords.action(request)))
        text += (request.consent.map(PromptWords.itemDetails) ?? []).map { row($0.label, $0.text) }
        if let reason = PromptWords.reason(request) { text.append(row("Message", "“\(reason)”")) }
        text += notes.map { "  \($0)" }
        text.append("  \(attempt) You have \(ConnectionLimits.userTimeout / 60_000_000_000) minutes.")
        text += [PromptWords.openingNotice(request), wait].compactMap(\.self)
        return lines(text)
    }

    /// What the user does to answer, on a separate line; after a miss only if there is a choice of methods.
    package var instruction: String {
        let (acceptsFinger, acceptsPasscode) = (request.methods.contains(.finger), request.methods.contains(.passcode))
        if missed != nil && !acceptsFinger { return "" }
        return lines([PromptWords.instruction(request, showsEntry: acceptsPasscode, of: device)])
    }

    private var missed: PromptRequest? { last.flatMap { request.attempt > $0.attempt ? $0 : nil } }

    /// The text before the cursor.
    package var entry: String {
        guard request.methods.contains(.passcode) else { return "Ctrl-C or Esc refuses: " }
        if request.methods.contains(.finger) { return "Passcode or finger (\(Self.cancelHint)): " }
        let name =
            switch (request.operation, request.change) {
            case (.applicationPassword, _): "Password"
            case (_, .changePasscode): PromptWords.currentPasscode
            default: "Passcode"
            }
        return "\(name) (\(Self.cancelHint)): "
    }

    /// The texts before the cursor where a new passcode is typed, and typed again.
    package static let newEntry = "\(PromptWords.newPasscode) (\(cancelHint)): "
    package static let repetition = "Repeat: "

    /// The choices of a consent as letters or digits, each on its own line, and the text before the cursor; nil if the only answers are
    /// yes and no.
    package var choices: String? {
        guard let choices = request.consent?.choices, choices != [.once] else { return nil }
        let rows = choices.map { "  [\(Self.letter($0))] \(title(of: $0))" } + ["  [n] \(PromptWords.cancel(request))"]
        return lines(["Allow:"] + rows) + "Choice: "
    }

    /// Returns the words for a choice. The name of an account is quoted, so that it cannot pass for words of the prompt.
    package func title(of choice: ConsentChoice) -> String {
        let title = PromptWords.choice(choice, of: request)
        guard case .account(let index) = choice, let accounts = request.consent?.accounts, accounts.indices.contains(index),
            !accounts[index].isEmpty
        else { return title }
        return "“\(title)”"
    }

    /// Returns the choice that a key selects; nil for any other key, which declines.
    package func choice(_ key: UInt8?) -> ConsentChoice? {
        guard let key else { return nil }
        return request.consent?.choices.first { Self.letter($0).utf8.first == key | 0x20 }
    }

    private static func letter(_ choice: ConsentChoice) -> String {
        switch choice {
        case .once: "o"
        case .untilLock: "l"
        case .always: "a"
        case .account(let index): "\(index + 1)"
        }
    }

    private var wait: String? { request.state.secondsToWait > 0 ? PromptWords.wait(request.state.secondsToWait) : nil }

    private func row(_ label: String?, _ text: String) -> String {
        let name = label.map { "\($0):" } ?? ""
        return "  \(name)\(String(repeating: " ", count: max(10 - name.count, 1)))\(text)"
    }

    private func lines(_ text: [String]) -> String { text.joined(separator: "\n") + "\n" }
}
