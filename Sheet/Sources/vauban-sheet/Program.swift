// The sheet: a window that appears with a prompt and disappears when the prompt is resolved. It runs from login to logout.

import CGtk
import Foundation
import Glibc
import VaubanPrompt

@main @MainActor struct Program {
    private static let usage = """
        usage: vauban-sheet
        Shows on your desktop who asks for a secret, and takes your answer. It is started with your session.
        """

    static func main() {
        guard CommandLine.arguments.count == 1 else { end(64, usage) }
        do { try SheetAgent.hideMemory() } catch { end(70, "vauban-sheet: \(error)") }
        guard let lock = SheetLock.wait() else { end(70, "vauban-sheet: \(SheetLock.path) cannot be locked") }
        g_set_prgname("vauban-sheet")
        g_set_application_name("Vauban")
        // Graphics drivers take most of a second to load, and a small window does not need them.
        setenv("GSK_RENDERER", "cairo", 0)
        guard gtk_init_check() != 0 else { end(69, "vauban-sheet: there is no display") }
        // Under X11, this keeps typed text away from input methods in other processes. Under Wayland the compositor sees the keys in any
        // case.
        if sheet_is_on_x11() != 0 { setenv("GTK_IM_MODULE", "gtk-im-context-simple", 1) }
        do {
            try serve()
        } catch {
            end(70, "vauban-sheet: \(error)")
        }
        withExtendedLifetime(lock) {}
    }

    private static var following: SheetAgent?

    private static func serve() throws {
        let agent = try SheetAgent(place: "the Vauban window on your desktop") {
            // The agent calls this on any thread; GTK is used on the main thread only.
            g_idle_add_full(
                G_PRIORITY_DEFAULT,
                { _ in
                    MainActor.assumeIsolated { SheetWindow.current?.refresh() }; return 0
                }, nil, nil)
        }
        Appearance.prepare()
        SheetWindow.current = SheetWindow(agent)
        following = agent
        sheet_follow_session { isActive in MainActor.assumeIsolated { Program.following?.session(isActive: isActive != 0) } }
        try agent.watchCanaries {
            g_idle_add_full(
                G_PRIORITY_DEFAULT,
                { _ in
                    MainActor.assumeIsolated { CanaryNotification.show() }; return 0
                }, nil, nil)
        }
        let thread = Thread { agent.run { FileHandle.standardError.write(Data("vauban-sheet: \($0)\n".utf8)) } }
        thread.stackSize = 1 << 19
        thread.start()
        g_main_loop_run(g_main_loop_new(nil, 0))
    }

    private static func end(_ status: Int32, _ text: String) -> Never {
        FileHandle.standardError.write(Data("\(text)\n".utf8))
        exit(status)
    }
}

/// A lock that allows one sheet per user. With two, a prompt would go to both, and one of them could be hidden. A second sheet waits until
/// the first ends.
enum SheetLock {
    static var path: String { "\(getenv("XDG_RUNTIME_DIR").map { String(cString: $0) } ?? "/tmp")/vauban-sheet-\(getuid()).lock" }

    /// Returns the open file that holds the lock.
    static func wait() -> FileHandle? {
        let number = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else { return nil }
        let file = FileHandle(fileDescriptor: number, closeOnDealloc: true)
        while flock(number, LOCK_EX) != 0 { guard errno == EINTR else { return nil } }
        return file
    }
}
