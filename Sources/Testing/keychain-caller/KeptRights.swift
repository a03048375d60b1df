// Uses rights that another run of a program saved.

import Foundation
import LocalAuthentication
import Security
import Synchronization

/// Authorizes the right, signs the text of its identifier, and prints the right's state and the signature.
func signByRight(_ identifier: String) -> String {
    let said = Mutex("")
    let done = DispatchSemaphore(value: 0)
    Task.detached {
        let words: String
        do {
            let right = try await LARightStore.shared.right(forIdentifier: identifier)
            let before = right.state
            try await right.authorize(localizedReason: "another run")
            let signature = try await right.key.sign(Data(identifier.utf8), algorithm: .ecdsaSignatureMessageX962SHA256)
            words = "\(before) \(right.tag) \(signature.base64EncodedString())"
        } catch {
            words = "\((error as NSError).code)"
        }
        said.withLock { $0 = words }
        done.signal()
    }
    done.wait()
    return said.withLock { $0 }
}

/// Saves and removes rights with secrets under four identifiers in turn, until it is killed. Prints a line once it has started.
func saveRightsForever(_ prefix: String) -> Never {
    Task.detached {
        for round in 0... {
            let identifier = "\(prefix)-\(round % 4)"
            try? await LARightStore.shared.removeRight(forIdentifier: identifier)
            _ = try? await LARightStore.shared.saveRight(LARight(), identifier: identifier, secret: Data(identifier.utf8))
            if round == 4 { FileHandle.standardOutput.write(Data("begun\n".utf8)) }
        }
    }
    dispatchMain()
}

/// Saves a right for the current enrollment; returns 0, or the error's code.
func saveRightForTheseFingers(_ identifier: String) -> Int {
    let code = Mutex(0)
    let done = DispatchSemaphore(value: 0)
    LARightStore.shared.saveRight(LARight(requirement: .biometryCurrentSet), identifier: identifier) { _, error in
        code.withLock { $0 = (error as NSError?)?.code ?? 0 }
        done.signal()
    }
    done.wait()
    return code.withLock { $0 }
}
