package import VaubanSecretBytes

extension PasswordForm {
    /// Returns a password of the form. All passwords of the form are equally likely: strings are drawn until one has the form, so that no
    /// position is more likely than another to have a required character.
    ///
    /// - Parameter number: Returns a number from 0 to the bound, excluding the bound, all with the same probability.
    package func password<Failure: Error>(drawing number: (_ bound: Int) throws(Failure) -> Int) throws(Failure) -> SecretBytes {
        let characters = alphabet.characters
        var secret = SecretBytes(count: count) { _ in }
        while true {
            if try fill(&secret, with: characters, number: number) { return secret }
        }
    }

    /// Draws a string into the buffer, and returns whether it has the form.
    private func fill<Failure: Error>(
        _ secret: inout SecretBytes, with characters: [UInt8], number: (Int) throws(Failure) -> Int
    ) throws(Failure) -> Bool {
        var missing = required
        var last: Int?
        var run = 0
        for place in 0..<count {
            let drawn = try number(characters.count)
            guard drawn != last || allows(run: run) else { return false }
            run = drawn == last ? run + 1 : 1
            last = drawn
            secret.withUnsafeMutableBytes { $0[place] = characters[drawn] }
            missing.removeAll { $0.contains(characters[drawn]) }
        }
        return missing.isEmpty
    }
}
