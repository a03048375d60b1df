import Foundation
import Glibc
import VaubanBrowserSetup
import VaubanJSON
import VaubanRefusal
import VaubanSecretBytes
import VaubanSecretText

/// The manifests by which browsers find and start vauban-browser-host for Vauban's extension.
struct BrowserEnabling {
    /// A browser, and where it looks for a user's manifests.
    private struct Browser {
        let name: String
        let manifest: String
        let content: String
        /// Whether the user has used it.
        let hasFolder: Bool
        let isFound: Bool
    }

    private let browsers: [Browser]
    private let program: String

    static func current() throws -> BrowserEnabling {
        let program = try InstalledPrograms.path(of: "vauban-browser-host")
        let config = try UserServiceFiles.folder("XDG_CONFIG_HOME", ".config")
        guard let home = getenv("HOME").map({ String(cString: $0) }), home.hasPrefix("/") else {
            throw Refusal(.unavailable, "No home folder: HOME is unset")
        }
        let chromium = manifest(of: program, "allowed_origins", extension: BrowserSetup.chromiumOrigin)
        let firefox = manifest(of: program, "allowed_extensions", extension: BrowserSetup.firefoxExtension)
        func browser(
            _ name: String, in folder: String, profiles: String? = nil, hosts: String, programs: [String], content: String
        ) -> Browser {
            let isUsed = [folder, profiles].compactMap { $0 }.contains(where: BackupFiles.isFolder)
            return Browser(
                name: name, manifest: "\(folder)/\(hosts)/\(BrowserSetup.hostName).json", content: content,
                hasFolder: isUsed, isFound: isUsed || programs.contains(where: isInstalled))
        }
        return BrowserEnabling(
            browsers: [
                browser(
                    "Chromium", in: "\(config)/chromium", hosts: "NativeMessagingHosts", programs: ["chromium", "chromium-browser"],
                    content: chromium),
                browser(
                    "Chrome", in: "\(config)/google-chrome", hosts: "NativeMessagingHosts",
                    programs: ["google-chrome-stable", "google-chrome"], content: chromium),
                // From version 147 on, the profiles are elsewhere, but the manifests are not.
                browser(
                    "Firefox", in: "\(home)/.mozilla", profiles: "\(config)/mozilla", hosts: "native-messaging-hosts",
                    programs: ["firefox", "firefox-esr"], content: firefox),
            ], program: program)
    }

    private static func manifest(of program: String, _ key: String, extension extensionName: String) -> String {
        let manifest = SecretJSON()
        manifest.add("name", BrowserSetup.hostName)
        manifest.add("description", "Passwords of your Vauban keychain")
        manifest.add("path", program)
        manifest.add("type", "stdio")
        manifest.add(key, texts: [extensionName])
        return manifest.finished(ending: "\n").secret.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    private static func isInstalled(_ program: String) -> Bool {
        ["/usr/bin", "/usr/local/bin"].contains { access("\($0)/\(program)", X_OK) == 0 }
    }

    private func files(_ browsers: [Browser]) -> UserServiceFiles {
        UserServiceFiles(files: browsers.map { ($0.manifest, $0.content) }, units: [])
    }

    /// Whether each browser that is found can use Vauban.
    var isEnabled: Bool {
        let found = browsers.filter(\.isFound)
        return !found.isEmpty && files(found).areWritten
    }

    /// Writes a manifest for each browser that is found.
    func enable() throws {
        // Throws if nothing is set up, since the extension would find no keychain. Creates the home that VAUBAN_HOME names.
        _ = try ServiceAccess.current()
        let found = browsers.filter(\.isFound)
        guard !found.isEmpty else {
            throw Refusal(.unavailable, "There is no Chromium, Chrome or Firefox here; those of a Flatpak or Snap cannot use Vauban")
        }
        try files(found).write()
        let extensions = "\((program as NSString).deletingLastPathComponent)/browser"
        say("\(found.map(\.name).formatted(.list(type: .and).locale(Locale(identifier: "en_US")))) can use Vauban, with its extension.")
        if BackupFiles.isFolder(extensions) { say("The extension is in \(extensions); man vauban-browser-host says how to load it.") }
        if access(BrowserSetup.suffixesPath, R_OK) != 0 {
            say(
                """
                Note: passwords are offered only for exactly the host that they are saved for, since \(BrowserSetup.suffixesPath) is \
                missing. Install the package publicsuffix.
                """)
        }
    }

    func disable() throws {
        guard try files(browsers).remove() else { return say("Browsers were not enabled to use Vauban.") }
        say(
            """
            Removed. Browsers can no longer use Vauban; passwords that they saved in Vauban stay there. Remove the \
            extension in the browser.
            """)
    }

    /// The row of `vauban doctor`: which of the browsers that the user has used can use Vauban; nil if there are none.
    var summary: String? {
        let used = browsers.filter(\.hasFolder)
        guard !used.isEmpty else { return nil }
        let states = used.map { "\($0.name) \(files([$0]).areWritten ? "enabled" : "not enabled")" }.joined(separator: ", ")
        return used.allSatisfy { files([$0]).areWritten } ? states : "\(states); to enable: vauban enable browser"
    }
}
