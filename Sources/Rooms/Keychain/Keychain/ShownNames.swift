// The names of items in prompts.

internal import VaubanAccessPolicy
internal import VaubanKeychainModel
internal import VaubanPlainText

extension SearchTerms {
    /// Returns the same terms limited to one group; nil if they name another.
    func within(_ group: String) -> SearchTerms? {
        guard namedGroup.map({ $0.isSameBytes(as: group) }) ?? true else { return nil }
        var within = attributes
        within[.accessGroup] = .text(group)
        return SearchTerms(kind: kind, attributes: within, protection: protection, reference: reference)
    }

    /// The name in the request, in the caller's own words; nil if it has no meaning for a user.
    var shownName: String? {
        let (name, account) = attributes.shownParts(of: kind)
        switch (name, account) {
        case (let name?, let account?): return "\(name)/\(account)"
        case (let name?, nil): return kind.isPassword ? "\(name), whichever account" : name
        case (nil, let account?): return "\(account), whichever service"
        case (nil, nil): return attributes.shownText(.label) ?? attributes.shownText(.applicationTag)
        }
    }

    /// Returns the same, followed by the item's new name if the changes rename it, since a program reads any item that has the name it
    /// searches for.
    func shownName(as changes: ItemAttributes) -> String? {
        shownName.map { name in
            let changed = SearchTerms(kind: kind, attributes: attributes.merging(changes), protection: nil)
            return name.toBeCalled(changed.shownName)
        }
    }
}

extension String {
    fileprivate func toBeCalled(_ name: String?) -> String {
        guard let name, !name.isSameBytes(as: self) else { return self }
        return "\(self), to be called \(name)"
    }
}

extension ItemRecord {
    /// The name by which a user recognizes the item: its label, or its service and account.
    var shownName: String {
        let (name, account) = attributes.shownParts(of: kind)
        let whole = [name, account].compactMap(\.self).joined(separator: "/")
        return whole.isEmpty ? attributes.shownText(.label) ?? "without a name" : whole
    }

    /// Returns the same, followed by the item's new name if the changes rename it.
    func shownName(as changes: ItemAttributes) -> String {
        var changed = self
        changed.attributes = attributes.merging(changes)
        return shownName.toBeCalled(changed.shownName)
    }
}

extension ItemAttributes {
    fileprivate func shownParts(of kind: ItemKind) -> (name: String?, account: String?) {
        (shownText(kind == .internetPassword ? .server : .service), shownText(.account))
    }

    fileprivate func shownText(_ name: AttributeName) -> String? {
        switch self[name] {
        case .text(let text): text.isEmpty ? nil : text
        case .data(let bytes): String(validating: bytes, as: UTF8.self).flatMap { $0.isEmpty ? nil : $0 }
        default: nil
        }
    }
}

extension ItemKind {
    fileprivate var isPassword: Bool { self == .genericPassword || self == .internetPassword }
}
