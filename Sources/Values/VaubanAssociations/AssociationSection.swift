internal import VaubanJSON

/// One object of an association file. It refers to the bytes of the document and must not outlive access to them.
struct AssociationSection {
    private let members: [JSONMember]
    private let bytes: UnsafeRawBufferPointer

    init?(_ value: JSONValue, _ bytes: UnsafeRawBufferPointer) {
        guard case .object(let members) = value else { return nil }
        self.members = members
        self.bytes = bytes
    }

    private subscript(key: String) -> JSONValue? { members.first { $0.key == key }?.value }

    /// Returns a section; nil if it does not exist.
    func section(_ name: String) throws(AssociationError) -> AssociationSection? {
        guard let value = self[name] else { return nil }
        guard let section = AssociationSection(value, bytes) else { throw .section }
        return section
    }

    /// Returns the names in `apps`; none if it is missing.
    func applications() throws(AssociationError) -> [String] {
        guard let value = self["apps"] else { return [] }
        return try names(value)
    }

    private func names(_ value: JSONValue) throws(AssociationError) -> [String] {
        guard let texts = texts(value) else { throw .apps }
        guard texts.count <= AssociationFile.applicationsMax else { throw .count }
        guard texts.allSatisfy(ApplicationName.isWellFormed) else { throw .name }
        return texts
    }

    /// Returns the links that each application may open, from either form of `details`.
    func links() throws(AssociationError) -> [AssociationFile.Links] {
        // Always empty in published files.
        _ = try applications()
        guard let details = self["details"] else { return [] }
        var links: [AssociationFile.Links] = []
        switch details {
        case .list(let values):
            for value in values {
                guard let section = AssociationSection(value, bytes) else { throw .details }
                let paths = try section.paths()
                for name in try section.linkedApplications() { links.append(AssociationFile.Links(application: name, paths: paths)) }
            }
        case .object(let members):
            for member in members {
                guard ApplicationName.isWellFormed(member.key) else { throw .name }
                // 2015: { "TEAM.bundle": { "paths": [...] } }, or the array alone.
                let paths: [String]
                if let section = AssociationSection(member.value, bytes) {
                    paths = try section.paths()
                } else {
                    guard let texts = texts(member.value) else { throw .paths }
                    paths = texts
                }
                links.append(AssociationFile.Links(application: member.key, paths: paths))
            }
        default: throw .details
        }
        guard links.count <= AssociationFile.applicationsMax else { throw .count }
        return links
    }

    /// Returns `appIDs`, or `appID` alone.
    private func linkedApplications() throws(AssociationError) -> [String] {
        if let several = self["appIDs"] { return try names(several) }
        guard let one = self["appID"] else { throw .details }
        return try names(.list([one]))
    }

    /// Returns `paths`, or nothing where there are `components`, which are objects.
    private func paths() throws(AssociationError) -> [String] {
        if let components = self["components"] {
            guard case .list(let values) = components, values.allSatisfy({ AssociationSection($0, bytes) != nil }) else { throw .details }
        }
        guard let value = self["paths"] else { return [] }
        guard let texts = texts(value) else { throw .paths }
        return texts
    }

    /// Returns an array of strings; nil if it is anything else.
    private func texts(_ value: JSONValue) -> [String]? {
        guard case .list(let values) = value else { return nil }
        var texts: [String] = []
        for value in values {
            guard case .text(let range) = value, let text = JSONText.text(bytes, range) else { return nil }
            texts.append(text)
        }
        return texts
    }
}
