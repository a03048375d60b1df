internal import VaubanRefusal

extension NSDictionary {
    /// Returns the entries of a dictionary whose keys must be text. Text is a `String`; numbers, Booleans among them, and data are
    /// Foundation's objects; anything else is as the dictionary hands it out.
    ///
    /// Iterating over a dictionary casts each key, looks its value up again by a hash of the text, and casts that too, which takes longer
    /// than the rest of the parsing. `allKeys` and `allValues` have the same order, and are the stored objects themselves
    /// unless the dictionary's class is the caller's own.
    func textEntries() throws(Refusal) -> [(name: String, value: Any)] {
        let (keys, values) = (allKeys, allValues)
        var entries: [(name: String, value: Any)] = []
        entries.reserveCapacity(keys.count)
        for (key, value) in zip(keys, values) {
            // As objects, since a cast of `Any` takes several times as long.
            let (keyObject, object) = (key as AnyObject, value as AnyObject)
            guard let name = keyObject as? NSString else { throw Refusal(.badParameter, "A key is not a string") }
            if let text = object as? NSString {
                entries.append((name as String, text as String))
            } else if object is NSNumber || object is NSData {
                entries.append((name as String, object))
            } else if let value = self.object(forKey: key) {
                entries.append((name as String, value))
            }
        }
        return entries
    }
}
