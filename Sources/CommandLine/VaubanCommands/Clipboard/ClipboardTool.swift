import Glibc
import VaubanLinuxHost
import VaubanRefusal

/// A program that accesses this desktop's clipboard. Each keeps running after a copy, since a clipboard's content is read from the process
/// that offers it, and ends when something else is copied.
enum ClipboardTool: String, CaseIterable {
    /// A tool of wl-clipboard, for Wayland.
    case wlCopy = "wl-copy"
    /// Tools for X11.
    case xclip, xsel

    /// How programs reach the clipboard.
    enum Desktop { case wayland, x11 }

    /// Returns the display servers that this desktop has, at least one, in the order in which to try them.
    static func desktops() throws(Refusal) -> [Desktop] {
        let desktops = (isSet("WAYLAND_DISPLAY") ? [Desktop.wayland] : []) + (isSet("DISPLAY") ? [.x11] : [])
        guard !desktops.isEmpty else {
            throw Refusal(.unsupported, "No clipboard: neither WAYLAND_DISPLAY nor DISPLAY is set")
        }
        return desktops
    }

    /// Returns the tool for this desktop.
    static func here() throws(Refusal) -> ClipboardTool {
        let desktops = try desktops()
        let isWayland = desktops.contains(.wayland)
        let fitting = (isWayland ? [ClipboardTool.wlCopy] : []) + (desktops.contains(.x11) ? [.xclip, .xsel] : [])
        guard let tool = fitting.first(where: { ProgramSearch.path(of: $0.rawValue) != nil }) else {
            throw Refusal(
                .unsupported,
                isWayland
                    ? "No program to reach the clipboard; install wl-clipboard" : "No program to reach the clipboard; install xclip or xsel"
            )
        }
        return tool
    }

    private static func isSet(_ name: String) -> Bool { getenv(name).map { $0.pointee != 0 } ?? false }

    /// Returns the command that fills the clipboard from its standard input. With `isMarked`, it asks clipboard managers not to keep the
    /// content in their history (the type `x-kde-passwordManagerHint`), which wl-copy supports from version 2.3 on.
    func copying(isMarked: Bool) -> [String] {
        switch self {
        case .wlCopy: ["wl-copy", "--type", "text/plain"] + (isMarked ? ["--sensitive"] : [])
        case .xclip: ["xclip", "-selection", "clipboard"]
        case .xsel: ["xsel", "--clipboard", "--input"]
        }
    }

    /// The command that writes the clipboard's content to its standard output.
    var pasting: [String] {
        switch self {
        case .wlCopy: ["wl-paste", "--no-newline"]
        case .xclip: ["xclip", "-selection", "clipboard", "-out"]
        case .xsel: ["xsel", "--clipboard", "--output"]
        }
    }

    /// Whether the tool returns only after the desktop has accepted the content.
    var returnsWhenSet: Bool { self == .wlCopy }

    /// The command that clears the clipboard; xclip copies an empty input.
    var clearing: [String] {
        switch self {
        case .wlCopy: ["wl-copy", "--clear"]
        case .xclip: copying(isMarked: false)
        case .xsel: ["xsel", "--clipboard", "--clear"]
        }
    }

    /// The command that lists the tool's options, if one of them may mark the content as a secret.
    var listing: [String]? { self == .wlCopy ? ["wl-copy", "--help"] : nil }
}

/// Finds a program as a shell does.
enum ProgramSearch {
    static func path(of name: String) -> String? {
        guard let folders = getenv("PATH") else { return nil }
        return String(cString: folders).split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }
}
