internal import EnclaveWire
internal import VaubanAssociations
internal import VaubanRefusal

/// The website of one request, which must be in the caller's entitlement.
struct AssociatedSite {
    let name: SiteName
    /// The caller's application identifier for websites, TEAM.bundle.
    let application: String

    /// Finds the site that a request names, or else the first one of the entitlement. Throws if the grants do not include it.
    init(_ text: String, of caller: Caller, granted grants: Entitlements?) throws(Refusal) {
        // For a caller through the command line, the program that started it is known by name only, which proves nothing.
        guard let identity = caller.identity, !identity.throughCommandLine, let grants else {
            throw Refusal(
                .missingEntitlement,
                "this program has no associated domains; its signature does, or root grants them in /etc/vauban/entitlements")
        }
        guard let application = grants.webApplication, ApplicationName.isWellFormed(application) else {
            throw Refusal(.missingEntitlement, "what this program is granted has no application-identifier of the form TEAM.bundle")
        }
        let domains = grants.associatedDomains.compactMap { try? AssociatedDomain($0) }
            .filter { $0.service == AssociatedDomain.webCredentials }
        let first = text.isEmpty ? domains.first { !$0.coversSubdomains }?.host : text
        guard let first else { throw Refusal(.badParameter, "Name a website: the entitlement of this program names none by itself") }
        guard let name = SiteName(first) else { throw Refusal(.badParameter, "This is not the name of a website") }
        guard domains.contains(where: { $0.covers(name.host) }) else {
            throw Refusal(.missingEntitlement, "\(name.host) is not among the associated domains of this program")
        }
        self.name = name
        self.application = application
    }

    /// Throws unless the website lists the application. Waits for the website's reply.
    func askSite(_ lists: any SiteLists) throws {
        guard try lists.applications(of: name.host).contains(where: { $0.utf8.elementsEqual(application.utf8) }) else {
            throw Refusal(.notAllowedHere, "\(name.host) does not list \(application) under webcredentials")
        }
    }
}
