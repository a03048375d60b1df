// The desktop application: a window to find, read and change items. Like any program, it uses the client library, and it cannot approve
// anything for the user.

import CGtk
import Foundation
import Glibc

@main @MainActor struct Program {
    private static let usage = """
        usage: vauban-desktop [--hide-after SECONDS] [--clear-after SECONDS]
        Shows your keychain in a window. A password that you reveal is hidden after 30 seconds, and one that you copy
        leaves the clipboard after 45 seconds.
        """
    private static var loop: OpaquePointer?

    static func main() {
        guard let options = Options(CommandLine.arguments.dropFirst()) else { fail(64, usage) }
        g_set_prgname("vauban-desktop")
        g_set_application_name("Keychain")
        // Without graphics drivers the window appears most of a second earlier and needs half of the memory.
        setenv("GSK_RENDERER", "cairo", 0)
        if gtk_get_minor_version() < 14 { setenv("GDK_DEBUG", "gl-disable", 0) } else { setenv("GDK_DISABLE", "gl,vulkan", 0) }
        guard gtk_init_check() != 0 else { fail(69, "vauban-desktop: there is no display") }
        // Under X11, this keeps typed text away from input methods in other processes. Under Wayland the compositor sees the keys in any
        // case.
        if sheet_is_on_x11() != 0 { setenv("GTK_IM_MODULE", "gtk-im-context-simple", 1) }
        Style.prepare()
        let window = MainWindow(options)
        MainWindow.current = window
        window.start()
        loop = g_main_loop_new(nil, 0)
        g_main_loop_run(loop)
    }

    static func end() { g_main_loop_quit(loop) }

    private static func fail(_ status: Int32, _ text: String) -> Never {
        FileHandle.standardError.write(Data("\(text)\n".utf8))
        exit(status)
    }
}
