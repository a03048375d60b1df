import Foundation
import Glibc
import Synchronization
import VaubanLinuxHost

/// The cleanup that must run before a signal ends this process, such as turning the terminal's echo on again.
///
/// The signals are blocked in every thread and one thread receives them, so the cleanup is ordinary code and not a signal handler. Children
/// start with their signals restored (`vauban_spawn_…`).
enum Interruption {
    private static let taken = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH]
    private static let duties = Mutex<(next: Int, byNumber: [Int: @Sendable () -> Void])>((0, [:]))
    private static let child = Mutex<pid_t?>(nil)
    /// The signal that is received last. Signals are received in the order of their numbers, lowest first, and this number is above all
    /// others: once it has been received, so has every signal that was pending when it was sent.
    private static let lastOfAll = __libc_current_sigrtmin()
    private static let allTaken = DispatchSemaphore(value: 0)
    private static let windowChange = Mutex<(@Sendable () -> Void)?>(nil)

    /// Starts the thread that receives signals. Call this before any other thread exists.
    static func begin() {
        var set = signals
        pthread_sigmask(SIG_BLOCK, &set, nil)
        let thread = Thread { wait() }
        thread.stackSize = 1 << 19
        thread.start()
    }

    /// Adds a cleanup and returns the number that removes it.
    static func add(_ duty: @escaping @Sendable () -> Void) -> Int {
        duties.withLock { duties in
            duties.next += 1
            duties.byNumber[duties.next] = duty
            return duties.next
        }
    }

    static func remove(_ number: Int) {
        duties.withLock { _ = $0.byNumber.removeValue(forKey: number) }
    }

    /// Runs every cleanup before this process ends, the last one added first.
    static func putRight() {
        for (_, duty) in duties.withLock({ $0.byNumber.sorted { $0.key > $1.key } }) { duty() }
    }

    /// Starts a command as a child and forwards signals to it while it runs.
    ///
    /// A signal that was sent to this process is forwarded; one that the terminal's keys caused has already reached the command. This
    /// process ends after the command has ended. Forwarding begins before the command starts, so that no signal arrives in between.
    static func passOn(_ start: () throws(SystemError) -> pid_t) throws(SystemError) -> pid_t {
        try child.withLock { child throws(SystemError) in
            let pid = try start()
            child = pid
            return pid
        }
    }

    /// Stops forwarding signals. Call this when the command has ended and before its process ID can be reused. A Ctrl-C that ended the
    /// command was also sent to this process and may still be pending; it is meant for the command and does not end this process.
    static func passOnNoMore() {
        if kill(getpid(), lastOfAll) == 0 { allTaken.wait() }
        child.withLock { $0 = nil }
    }

    /// Sets the action for a change of the terminal's window size.
    static func onWindowChange(_ action: (@Sendable () -> Void)?) {
        windowChange.withLock { $0 = action }
    }

    /// Unblocks the signals for a program that replaces this process.
    static func restoreSignals() {
        var set = signals
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }

    private static func wait() {
        var set = signals
        while true {
            var information = siginfo_t()
            let number = sigwaitinfo(&set, &information)
            guard number > 0 else { continue }
            if number == lastOfAll {
                allTaken.signal()
                continue
            }
            if number == SIGWINCH {
                windowChange.withLock { $0 }?()
                continue
            }
            let isPassedOn = child.withLock { child in
                guard let child else { return false }
                if information.si_code != sentByKernel { kill(child, number) }
                return true
            }
            if isPassedOn { continue }
            putRight()
            // Ends by the signal itself, so that the parent process sees the usual wait status.
            signal(number, SIG_DFL)
            pthread_sigmask(SIG_UNBLOCK, &set, nil)
            kill(getpid(), number)
        }
    }

    /// `SI_KERNEL`, the origin of signals that a terminal's keys cause.
    private static let sentByKernel: Int32 = 0x80

    private static var signals: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for number in taken + [lastOfAll] { sigaddset(&set, number) }
        return set
    }
}
