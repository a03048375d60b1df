package import VaubanRefusal

/// The meanings of a file's columns by the names in its first line, ignoring case (Specs/import.md).
package struct CSVColumns {
    package enum Role: Hashable {
        case title, url, username, password, notes, codes, realm, group, kind, tags
        /// Information about the record, which is displayed.
        case about
        /// Information in which 0, false and an empty cell all mean false.
        case flag
        /// A date as milliseconds since 1970.
        case date
        /// A part that the source displayed.
        case content
        /// A value that the source may have hidden, such as that of a column of no known format.
        case hidden
    }

    package let names: [String]
    package let roles: [Role]

    private static let roles: [String: Role] = [
        "name": .title, "title": .title,
        "url": .url, "website": .url, "login_uri": .url,
        "username": .username, "login_username": .username,
        "password": .password, "login_password": .password,
        "note": .notes, "notes": .notes, "extra": .notes,
        "otpauth": .codes, "totp": .codes, "login_totp": .codes, "one-time password": .codes,
        "otpurl": .codes, "otpsecret": .codes, "otp": .codes,
        "httprealm": .realm,
        "group": .group, "grouping": .group, "folder": .group, "collections": .group,
        "tags": .tags, "guid": .about, "formactionorigin": .about, "last modified": .about, "created": .about, "archiveddate": .about,
        "timecreated": .date, "timelastused": .date, "timepasswordchanged": .date,
        "fav": .flag, "favorite": .flag, "favorite status": .flag, "archived": .flag, "archived status": .flag, "reprompt": .flag,
        "icon": .flag,
        "fields": .hidden,
    ]

    package init(header: [String]) throws(Refusal) {
        names = header
        let keys = header.map { $0.lowercased().trimmed }
        var seen: Set<String> = []
        for (key, name) in zip(keys, header) where !key.isEmpty && !seen.insert(key).inserted {
            throw Refusal(.badParameter, "The first line names the column \"\(SafeText.line(name, max: 60))\" twice; nothing was imported")
        }
        let isBitwarden = keys.contains("login_uri")
        var taken: Set<Role> = []
        roles = keys.map { key in
            // Only in Bitwarden's format does this column contain the kind of the record.
            if key == "type" { return isBitwarden ? .kind : .content }
            let role = Self.roles[key] ?? .hidden
            let isOne = [.title, .url, .username, .password, .notes, .realm, .group].contains(role)
            // A second column for the same part; a possible secret stays secret.
            if isOne, !taken.insert(role).inserted { return role == .password ? .hidden : .content }
            return role
        }
        for (role, name) in [(Role.username, "username"), (.password, "password")] where !taken.contains(role) {
            throw Self.unknown(name, in: header)
        }
        guard taken.contains(.url) || taken.contains(.title) else { throw Self.unknown("url", in: header) }
    }

    private static func unknown(_ name: String, in header: [String]) -> Refusal {
        // A name that is not UTF-8 is empty here.
        if header.contains(where: { $0.isEmpty || $0.contains("\0") }) {
            return Refusal(.badParameter, "The file is in no format that vauban import knows; to list them: vauban help import")
        }
        if header.count == 1, header[0].contains(where: { $0 == ";" || $0 == "\t" }) {
            return Refusal(.badParameter, "The columns are not separated by commas; export the file again, or save it as CSV with commas")
        }
        return Refusal(
            .badParameter,
            "The first line must name the columns username, password, and url or title; \"\(name)\" is missing"
        )
    }
}

extension String {
    var trimmed: String { String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed()) }
}
