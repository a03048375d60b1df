import ArgumentParser

/// Internal: `vauban get --copy` starts it to hold the clipboard until it is cleared.
struct HoldClipboard: ParsableCommand {
    static let name = "hold-clipboard"
    static let configuration = CommandConfiguration(
        commandName: name, abstract: "Hold a secret in the clipboard for vauban get --copy.", shouldDisplay: false)

    @Option var tool: ClipboardTool
    @Option var seconds: Int64

    func run() throws { try ClipboardHolder(tool: tool, seconds: seconds).run() }
}

extension ClipboardTool: ExpressibleByArgument {}
