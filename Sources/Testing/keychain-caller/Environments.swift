// Reports the user's environment as seen by a program and its child.

import Foundation
import Glibc
import LocalAuthentication

/// Prints, at each change, whether the user can be prompted for the passcode.
private final class Saying: NSObject, LAEnvironment.Observer, Sendable {
    private let name: String
    private let said = DispatchSemaphore(value: 0)

    init(_ name: String) { self.name = name }

    func environment(_ environment: LAEnvironment, stateDidChangeFromOldState oldState: LAEnvironment.State) {
        say("\(name) \(environment.state.userPassword?.isUsable == true ? "can" : "cannot")")
        said.signal()
    }

    /// How long to wait for one event, longer than a busy machine takes.
    static let seconds: UInt32 = 120

    /// Waits for this many lines, and ends the process if they do not arrive.
    func awaitWords(_ count: Int) { for _ in 0..<count where said.wait(timeout: .now() + Double(Self.seconds)) != .success { _exit(75) } }
}

private func say(_ text: String) {
    print(text)
    fflush(nil)
}

/// Observes, and after the first line forks a child that removes its parent's observer and adds its own. By then no other thread is in the
/// middle of an operation that the child could never finish.
func watchInParentAndChild() -> Never {
    let environment = LAEnvironment.currentUser
    let ofParent = Saying("parent")
    environment.addObserver(ofParent)
    say("the parent watches")
    ofParent.awaitWords(1)
    let child = fork()
    if child == 0 {
        // A lock that another thread held at the fork would block this one forever.
        alarm(Saying.seconds)
        environment.removeObserver(ofParent)
        let ofChild = Saying("child")
        environment.addObserver(ofChild)
        say("both watch")
        ofChild.awaitWords(2)
        _exit(0)
    }
    ofParent.awaitWords(2)
    waitpid(child, nil, 0)
    exit(0)
}
