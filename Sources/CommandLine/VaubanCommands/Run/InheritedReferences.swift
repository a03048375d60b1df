import Foundation
import VaubanRefusal

/// The variables of this process's environment whose whole value is a reference to an item. `vauban run` gives its command the secrets.
enum InheritedReferences {
    /// Whether there are any.
    static var exist: Bool { !variables.isEmpty }

    /// Returns the names of the variables with the names of their items.
    ///
    /// - Throws: `Refusal` with `badParameter` for a reference without an item.
    static func items() throws(Refusal) -> [(name: String, word: String)] {
        var items: [(name: String, word: String)] = []
        for (name, value) in variables {
            do throws(ParsingError) {
                if let word = try ItemReference.name(in: value) { items.append((name, word)) }
            } catch {
                throw Refusal(.badParameter, "The variable \(name) has a wrong value: \(error.why)")
            }
        }
        return items
    }

    private static var variables: [(name: String, value: String)] {
        ProcessInfo.processInfo.environment.filter { $0.value.hasPrefix(ItemReference.scheme) && VariableName.isOne($0.key) }
            .sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
