// What a program sees of its user, it and its child.

import Foundation
import Glibc
import LocalAuthentication

/// Says at each change whether its user can be asked for the passcode.
private final class Saying: NSObject, LAEnvironment.Observer, Sendable {
    private let name: String
    private let said = DispatchSemaphore(value: 0)

    init(_ name: String) { self.name = name }

    func environment(_ environment: LAEnvironment, stateDidChangeFromOldState oldState: LAEnvironment.State) {
        say("\(name) \(environment.state.userPassword?.isUsable == true ? "can" : "cannot")")
        said.signal()
    }

    /// Ends the process where none comes.
    func awaitWords(_ count: Int) { for _ in 0..<count where said.wait(timeout: .now() + 20) != .success { _exit(75) } }
}

private func say(_ text: String) {
    print(text)
    fflush(nil)
}

/// Watches, and after the first word has a child that takes its parent's observer away and watches by itself. By then no other thread is
/// at something that its copy in the child would never end.
func watchInParentAndChild() -> Never {
    let environment = LAEnvironment.currentUser
    let ofParent = Saying("parent")
    environment.addObserver(ofParent)
    say("the parent watches")
    ofParent.awaitWords(1)
    let child = fork()
    if child == 0 {
        // What another thread held at the fork would hold this one for ever.
        alarm(20)
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
