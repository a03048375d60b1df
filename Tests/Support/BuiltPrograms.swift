internal import Foundation

/// The programs that were built with these tests: beside the test program, or where the runner's environment says.
public enum BuiltPrograms {
    public static let folder: String = {
        if let named = ProcessInfo.processInfo.environment["VAUBAN_BUILD"] {
            return URL(fileURLWithPath: named).resolvingSymlinksInPath().path
        }
        return URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path
    }()
}
