import VaubanSecretBytes
package import VaubanSecretText

/// Notes and named values as one text: the notes, an empty line, then `name: value` lines. Further lines of a value begin with four spaces.
package enum FieldText {
    package static func of(notes: SecretBox?, _ fields: [SourceField]) -> SecretBox {
        let text = SecretBuilder()
        if let notes { text.append(notes.secret) }
        if text.count > 0, !fields.isEmpty { text.append("\n\n") }
        for (index, field) in fields.enumerated() {
            if index > 0 { text.append("\n") }
            text.append(field.name.isEmpty ? "(no name)" : field.name.replacing("\n", with: " "))
            text.append(": ")
            field.value.secret.withUnsafeBytes { bytes in
                for byte in bytes {
                    text.append(byte)
                    if byte == 0x0A { text.append("    ") }
                }
            }
        }
        return text.kept
    }
}
