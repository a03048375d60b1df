import Glibc
import VaubanLinuxHost
import VaubanRefusal

/// A program through which this desktop's clipboard is reached. Each stays behind after it was given something, since a clipboard is
/// read from whoever filled it, and ends when something else is copied.
enum ClipboardTool: String, CaseIterable {
    /// Of wl-clipboard, for Wayland.
    case wlCopy = "wl-copy"
    /// For X11.
    case xclip, xsel

    /// The one to use on this desktop.
    static func here() throws(Refusal) -> ClipboardTool {
        let isWayland = isSet("WAYLAND_DISPLAY")
        let isX11 = isSet("DISPLAY")
        guard isWayland || isX11 else {
            throw Refusal(.unsupported, "there is no desktop here, so there is no clipboard: neither WAYLAND_DISPLAY nor DISPLAY is set")
        }
        let fitting = (isWayland ? [ClipboardTool.wlCopy] : []) + (isX11 ? [.xclip, .xsel] : [])
        guard let tool = fitting.first(where: { ProgramSearch.path(of: $0.rawValue) != nil }) else {
            throw Refusal(
                .unsupported, isWayland ? "to reach the clipboard, install wl-clipboard" : "to reach the clipboard, install xclip or xsel")
        }
        return tool
    }

    private static func isSet(_ name: String) -> Bool { getenv(name).map { $0.pointee != 0 } ?? false }

    /// Fills the clipboard from its standard input. `isMarked` says that clipboard managers are told to keep no history of it
    /// (the type `x-kde-passwordManagerHint`), which wl-copy can from its version 2.3 on.
    func copying(isMarked: Bool) -> [String] {
        switch self {
        case .wlCopy: ["wl-copy", "--type", "text/plain"] + (isMarked ? ["--sensitive"] : [])
        case .xclip: ["xclip", "-selection", "clipboard"]
        case .xsel: ["xsel", "--clipboard", "--input"]
        }
    }

    /// Writes what is in the clipboard to its standard output.
    var pasting: [String] {
        switch self {
        case .wlCopy: ["wl-paste", "--no-newline"]
        case .xclip: ["xclip", "-selection", "clipboard", "-out"]
        case .xsel: ["xsel", "--clipboard", "--output"]
        }
    }

    /// Empties the clipboard; xclip does by being given nothing.
    var clearing: [String] {
        switch self {
        case .wlCopy: ["wl-copy", "--clear"]
        case .xclip: copying(isMarked: false)
        case .xsel: ["xsel", "--clipboard", "--clear"]
        }
    }

    /// The words that list its options, where one of them marks what is copied as a secret.
    var listing: [String]? { self == .wlCopy ? ["wl-copy", "--help"] : nil }
}

/// Where the shell would find a program.
enum ProgramSearch {
    static func path(of name: String) -> String? {
        guard let folders = getenv("PATH") else { return nil }
        return String(cString: folders).split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }
}
