// The code of "Streamline local authorization flows" (WWDC 2022) with rights, as in the talk; what the talk omits is below each type.
import Foundation
import LocalAuthentication
import Security

/// LARight: basic usage, logout and deauthorization.
@MainActor
final class Account {
    func login() async {
        self.loginRight = LARight(requirement: .biometry(fallback: .devicePasscode))
        do {
            try await loginRight.checkCanAuthorize()
        } catch {
            navigateTo(section: .public)
            return
        }
        do {
            try await self.loginRight.authorize(localizedReason: self.localizedReason)
            navigateTo(section: .protected)
        } catch {
            showError(.authenticationRequired)
        }
    }

    func logout() async {
        await self.loginRight.deauthorize()
    }

    // Omitted in the talk.
    enum Section { case `public`, protected }
    enum Problem { case authenticationRequired }

    private(set) var loginRight = LARight()
    let localizedReason = "see your profile"
    func navigateTo(section: Section) { print("The \(section) section is shown.") }
    func showError(_ problem: Problem) { print("Error: \(problem)") }
}

/// LAPersistedRight: retrieval and private key usage.
struct SecondFactor {
    func generateClientKeys() async throws -> Data {
        let login2FA = LARight(requirement: .biometryCurrentSet)
        let persisted2FA = try await LARightStore.shared.saveRight(login2FA, identifier: "2fa")
        return try await persisted2FA.key.publicKey.bytes
    }

    func signChallenge(_ challenge: Data, algorithm: SecKeyAlgorithm) async throws -> Data {
        let persisted2FA = try await LARightStore.shared.right(forIdentifier: "2fa")
        let localizedReason = "Biometric authentication is required to proceed"
        try await persisted2FA.authorize(localizedReason: localizedReason)
        return try await persisted2FA.key.sign(challenge, algorithm: algorithm)
    }

    // Omitted in the talk: the same for users without a fingerprint reader.
    func generateClientKeysForPasscode() async throws -> Data {
        let login2FA = LARight(requirement: .biometry(fallback: .devicePasscode))
        let persisted2FA = try await LARightStore.shared.saveRight(login2FA, identifier: "2fa")
        return try await persisted2FA.key.publicKey.bytes
    }
}
