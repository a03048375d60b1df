import Foundation
import Glibc
import TestSupport
import Testing
import VaubanLinuxHost

/// Reads from the kernel in which call a thread of this process sleeps.
enum ThreadProbe {
    /// The numbers of poll(2) and ppoll(2).
    #if arch(x86_64)
    private static let pollCalls = ["7", "271"]
    #else
    private static let pollCalls = ["73"]
    #endif

    /// Names the calling thread. Foundation's `Thread.name` gives a thread that started before `start` returned no name in the kernel.
    static func nameThread(_ name: String) {
        let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
        defer { close(file) }
        #expect(write(file, name, name.utf8.count) == name.utf8.count)
    }

    /// Waits until the thread of this name is in a poll. Returns false if it is not before the limit for tests that hang.
    static func waitUntilPolling(_ name: String) -> Bool {
        let deadline = MachineClock.monotonic + HangLimit.nanoseconds
        while MachineClock.monotonic < deadline {
            if isPolling(name) { return true }
            sched_yield()
        }
        return false
    }

    private static func isPolling(_ name: String) -> Bool {
        func text(_ thread: String, _ file: String) -> String? {
            try? String(contentsOfFile: "/proc/self/task/\(thread)/\(file)", encoding: .utf8)
        }
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        let own = threads.first { text($0, "comm") == "\(name)\n" }
        let call = own.flatMap { text($0, "syscall") }?.split(separator: " ").first
        return call.map { pollCalls.contains(String($0)) } ?? false
    }
}
