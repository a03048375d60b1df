import Testing
import VaubanPrompt

/// Which keys are meant for the prompt, and which for the window that had the keyboard before.
@Suite struct TypingGateTests {
    @Test("Keys of a word that began before the prompt do not count, however many follow") func wordThatBeganEarlierDoesNotCount() {
        var gate = TypingGate(hasKeyboard: true)
        for _ in 1...40 {
            let counts = gate.typed()
            #expect(!counts)
            #expect(gate.awaitsPause)
        }
        gate.paused()
        let counts = gate.typed()
        #expect(counts)
        #expect(!gate.awaitsPause)
    }

    @Test("After a pause, keys count for as long as the window has the keyboard") func keysCountAfterAPause() {
        var gate = TypingGate(hasKeyboard: true)
        #expect(!gate.isOpen)
        gate.paused()
        #expect(gate.isOpen)
        gate.keyboardLeft()
        #expect(!gate.isOpen && !gate.awaitsPause)
        // The pause was in another window.
        gate.paused()
        gate.keyboardArrived()
        #expect(!gate.isOpen && gate.awaitsPause)
        gate.paused()
        #expect(gate.isOpen)
    }

    @Test("A window that gets the keyboard later waits for a pause from then on") func laterKeyboardNeedsAPause() {
        var gate = TypingGate(hasKeyboard: false)
        gate.paused()
        #expect(!gate.isOpen && !gate.awaitsPause)
        gate.keyboardArrived()
        gate.paused()
        #expect(gate.isOpen)
        // Reported again, without having left.
        gate.keyboardArrived()
        #expect(!gate.isOpen && gate.awaitsPause)
    }

    @Test("A click into the window opens it at once, also before the desktop reports the keyboard") func clickOpensTheGate() {
        var gate = TypingGate(hasKeyboard: false)
        gate.clicked()
        gate.keyboardArrived()
        let counts = gate.typed()
        #expect(counts)
        gate.keyboardLeft()
        gate.keyboardArrived()
        #expect(!gate.isOpen)
    }

    @Test("On a desktop that does not report the keyboard, the first key is ignored and the next word counts")
    func firstKeyShowsTheKeyboard() {
        var gate = TypingGate(hasKeyboard: false)
        let isFirstCounted = gate.typed()
        #expect(!isFirstCounted)
        #expect(gate.awaitsPause)
        gate.paused()
        let counts = gate.typed()
        #expect(counts)
    }
}
