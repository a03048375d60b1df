import ArgumentParser

struct EnableBrowser: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "browser",
        abstract: "Let Chromium, Chrome and Firefox use Vauban, with its extension.",
        discussion: """
            Writes a manifest for each of these browsers that is found: vauban.browser.json in ~/.config/chromium, \
            ~/.config/google-chrome or ~/.mozilla. If one of them exists with other content, nothing is written. Then load the \
            extension (man vauban-browser-host).

            Example:
              vauban enable browser
            """)

    func run() throws { try BrowserEnabling.current().enable() }
}

struct DisableBrowser: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "browser",
        abstract: "Remove the files of vauban enable browser; items stay.",
        discussion: """
            Example:
              vauban disable browser
            """)

    func run() throws { try BrowserEnabling.current().disable() }
}
