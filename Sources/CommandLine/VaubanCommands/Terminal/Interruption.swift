import Foundation
import Glibc
import Synchronization
import VaubanLinuxHost

/// What must be put right before this process ends by a signal: a terminal without echo is no way to leave a user.
///
/// The signals are blocked in every thread and taken by one, so that putting right is ordinary code and not a signal
/// handler. Children start with their signals restored (`vauban_spawn_…`).
enum Interruption {
    private static let taken = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH]
    private static let duties = Mutex<(next: Int, byNumber: [Int: @Sendable () -> Void])>((0, [:]))
    private static let child = Mutex<pid_t?>(nil)
    /// Signals are taken by their numbers, lowest first, and this number is above all others: when it has been taken, so has whatever
    /// was pending when it was sent.
    private static let lastOfAll = __libc_current_sigrtmin()
    private static let allTaken = DispatchSemaphore(value: 0)
    private static let windowChange = Mutex<(@Sendable () -> Void)?>(nil)

    /// To be called first of all, before there is a second thread.
    static func begin() {
        var set = signals
        pthread_sigmask(SIG_BLOCK, &set, nil)
        let thread = Thread { wait() }
        thread.stackSize = 1 << 19
        thread.start()
    }

    /// Adds something to put right; the answer takes it back.
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

    /// Puts everything right before this process ends. The last thing added is the first.
    static func putRight() {
        for (_, duty) in duties.withLock({ $0.byNumber.sorted { $0.key > $1.key } }) { duty() }
    }

    /// While a command runs as this process's child, a signal is meant for the command: one that was sent to this process is sent
    /// on, and one that the terminal's keys sent the command has got itself. This process ends when the command has ended.
    /// From before it starts, so that none comes in between.
    static func passOn(_ start: () throws(SystemError) -> pid_t) throws(SystemError) -> pid_t {
        try child.withLock { child throws(SystemError) in
            let pid = try start()
            child = pid
            return pid
        }
    }

    /// To be called when the command has ended, and before its number can be another's. A Ctrl-C that ended the command was sent to
    /// this process too, and may not have been taken yet: then it is still the command's, and not this process's.
    static func passOnNoMore() {
        if kill(getpid(), lastOfAll) == 0 { allTaken.wait() }
        child.withLock { $0 = nil }
    }

    /// Called when the window of the terminal has another size.
    static func onWindowChange(_ action: (@Sendable () -> Void)?) {
        windowChange.withLock { $0 = action }
    }

    /// For a program that takes this process's place: it must not start with signals blocked.
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
            // Ends as anyone expects who looks at how this process ended.
            signal(number, SIG_DFL)
            pthread_sigmask(SIG_UNBLOCK, &set, nil)
            kill(getpid(), number)
        }
    }

    /// SI_KERNEL, as for a terminal's keys.
    private static let sentByKernel: Int32 = 0x80

    private static var signals: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for number in taken + [lastOfAll] { sigaddset(&set, number) }
        return set
    }
}
