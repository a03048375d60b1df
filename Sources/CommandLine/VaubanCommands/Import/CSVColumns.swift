import VaubanRefusal

/// What each column of a file is, by the names in its first line (Specs/import.md). Capitals do not matter.
struct CSVColumns {
    enum Role: Hashable {
        case title, url, username, password, notes, codes, realm, group, kind, tags
        /// Says something about the record; shown.
        case about
        /// The same, of which 0, false and nothing are the same: that it is not so.
        case flag
        /// When something was, as a number of milliseconds since 1970.
        case date
        /// May hold what its source hid.
        case hidden
        /// Of no format that is known here.
        case other
    }

    let names: [String]
    let roles: [Role]

    private static let roles: [String: Role] = [
        "name": .title, "title": .title,
        "url": .url, "website": .url, "login_uri": .url,
        "username": .username, "login_username": .username,
        "password": .password, "login_password": .password,
        "note": .notes, "notes": .notes, "extra": .notes,
        "otpauth": .codes, "totp": .codes, "login_totp": .codes, "one-time password": .codes,
        "httprealm": .realm,
        "group": .group, "grouping": .group, "folder": .group, "collections": .group,
        "tags": .tags, "guid": .about, "formactionorigin": .about, "last modified": .about, "created": .about, "archiveddate": .about,
        "timecreated": .date, "timelastused": .date, "timepasswordchanged": .date,
        "fav": .flag, "favorite": .flag, "favorite status": .flag, "archived": .flag, "archived status": .flag, "reprompt": .flag,
        "icon": .flag,
        "fields": .hidden,
    ]

    init(header: [String]) throws(Refusal) {
        names = header
        let keys = header.map { $0.lowercased().trimmed }
        var seen: Set<String> = []
        for (key, name) in zip(keys, header) where !key.isEmpty && !seen.insert(key).inserted {
            throw Refusal(.badParameter, "the first line names the column \"\(SafeText.line(name, max: 60))\" twice, so nothing was taken")
        }
        let isBitwarden = keys.contains("login_uri")
        var taken: Set<Role> = []
        roles = keys.map { key in
            // Only there does it say what a record is.
            if key == "type" { return isBitwarden ? .kind : .other }
            let role = Self.roles[key] ?? .other
            let isOne = [.title, .url, .username, .password, .notes, .codes, .realm, .group].contains(role)
            // A second column for one part: what may be secret stays one.
            if isOne, !taken.insert(role).inserted { return [.password, .codes].contains(role) ? .hidden : .other }
            return role
        }
        for (role, name) in [(Role.username, "username"), (.password, "password")] where !taken.contains(role) {
            throw Self.unknown(name)
        }
        guard taken.contains(.url) || taken.contains(.title) else { throw Self.unknown("url") }
    }

    private static func unknown(_ name: String) -> Refusal {
        Refusal(
            .badParameter,
            "the first line must name the columns username, password, and url or title, as the exports that vauban import knows "
                + "do; there is no \"\(name)\""
        )
    }
}

extension String {
    var trimmed: String { String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed()) }
}
