// Persisted rights through Apple's methods with completion handlers.

import Foundation
import LocalAuthentication
import Security
import TestSupport
import Testing

extension AppleNames {
    @Suite("Stored rights with completion handlers")
    struct RightCompletionTests {
        let rooms: Rooms

        init() throws { rooms = try SharedRooms.use() }

        @Test("The forms with completion handlers answer the same as the asynchronous ones")
        func theCompletionFormsAnswerTheSame() async throws {
            let identifier = "right-\(UUID().uuidString)"
            let store = LARightStore.shared
            let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
            let encryption = SecKeyAlgorithm.eciesEncryptionCofactorVariableIVX963SHA256AESGCM
            let user = try rooms.user([.passcode(Rooms.passcode)])
            defer { user.leave() }
            let message = Data("m".utf8)
            let ended: LAPersistedRight = try await withCheckedThrowingContinuation { continuation in
                store.saveRight(LARight(), identifier: identifier, secret: message) { right, error in
                    guard let right else { return continuation.resume(throwing: error ?? LAError(.invalidContext)) }
                    right.authorize(localizedReason: "open") { error in
                        if let error { return continuation.resume(throwing: error) }
                        right.key.sign(message, algorithm: algorithm) { signature, _ in
                            right.key.publicKey.verify(message, signature: signature ?? Data(), algorithm: algorithm) { error in
                                if let error { return continuation.resume(throwing: error) }
                                right.key.publicKey.encrypt(message, algorithm: encryption) { sealed, _ in
                                    right.key.decrypt(sealed ?? Data(), algorithm: encryption) { opened, _ in
                                        right.secret.loadData { secret, _ in
                                            #expect(opened == message && secret == message)
                                            continuation.resume(returning: right)
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
            let gone: Int? = await withCheckedContinuation { continuation in
                store.removeRight(ended) { error in
                    #expect(error == nil)
                    store.right(forIdentifier: identifier) { _, error in continuation.resume(returning: (error as NSError?)?.code) }
                }
            }
            #expect(gone == Int(errSecItemNotFound) && ended.state == .notAuthorized)
        }
    }
}
