import Testing
import VaubanCommands
import VaubanKeychainClient
import VaubanRefusal

/// The exit codes of the manual, and no others (Manual/command-line.md, "Exit codes").
@Suite struct ExitCodeTests {
    @Test(
        "A refusal ends with the code of the manual",
        arguments: [
            (.itemNotFound, 44), (.duplicateItem, 45), (.interactionNotAllowed, 36), (.noPromptAgent, 36), (.locked, 36),
            (.authenticationFailed, 51), (.missingEntitlement, 51), (.cancelled, 128), (.badParameter, 64), (.dataTooLarge, 64),
            (.unsupported, 64), (.passcodeTooWeak, 64), (.notAllowedHere, 51), (.unavailable, 53), (.storageFull, 53), (.internalError, 53),
            (.biometryNotAvailable, 53),
        ] as [(Refusal.Reason, Int32)])
    func refusalsHaveCodes(reason: Refusal.Reason, code: Int32) {
        #expect(CommandEnd.code(of: Refusal(reason)) == code)
    }

    @Test("No refusal ends with a code that the manual lacks", arguments: Refusal.Reason.allCases)
    func everyRefusalHasADocumentedCode(reason: Refusal.Reason) {
        #expect([36, 44, 45, 51, 53, 64, 128].contains(CommandEnd.code(of: Refusal(reason))))
    }

    @Test("A refusal about earlier secrets names the item and how to list its history")
    func earlierSecretsNameTheirItem() {
        let secrets = EarlierSecrets(of: "github/anna")
        let way = "; to list its history: vauban history github/anna"
        for (number, message) in [
            (0, "github/anna has no earlier secret" + way), (1, "github/anna has 1 earlier secret" + way),
            (2, "github/anna has 2 earlier secrets" + way), (nil, "The item has another text"),
        ] as [(Int64?, String)] {
            let refusal = Refusal(.itemNotFound, "The item has another text", earlierValues: number)
            #expect(secrets.named(refusal).message == message)
            #expect(CommandEnd.code(of: secrets.named(refusal)) == 44)
        }
    }

    @Test("A detail that says everything stands alone; others follow the general sentence")
    func completeDetailsStandAlone() {
        #expect(Refusal(.duplicateItem, "a/b already exists").message == "a/b already exists")
        #expect(Refusal.noItem("no/such").message == "No item no/such. To list items: vauban list")
        let elsewhere = "vauban get no/such --owner program:/PATH"
        #expect(
            Refusal.noItem("no/such", elsewhere: elsewhere).message
                == "No item no/such of yours. To list items: vauban list. If another program keeps it: \(elsewhere)")
        #expect(
            Refusal.noItem("no/such", suggestions: ["no/much"], elsewhere: elsewhere).message
                == "No item no/such of yours. Did you mean no/much? If another program keeps it: \(elsewhere)")
        #expect(Refusal(.internalError, "the reply is empty").message == "Vauban failed: the reply is empty; see its log")
        let wrong = Refusal(.authenticationFailed, "the passcode is wrong", attemptsLeft: 0, secondsToWait: 60)
        #expect(wrong.message == "Authentication failed: the passcode is wrong; try again in 1 minute")
        #expect(Refusal(.authenticationFailed, attemptsLeft: 1).message == "Authentication failed; 1 attempt left")
    }
}
