// Requests about circles of devices that share items (Specs/sync.md). The enclave's own prompt requests the user's approval here.

import Enclave
import EnclaveWire
import VaubanPlainText
import VaubanRefusal
import VaubanSecretBytes
import VaubanSyncModel
import VaubanUserModel

extension RequestConnection {
    private static let shownNameBytesMax = 20

    /// Performs a request about a circle. An open circle stays open until the connection ends or opens another.
    func circle(_ request: CircleRequest, _ secret: borrowing SecretBytes?) throws(Refusal) -> Response {
        let vault = try vault()
        let consent = try consent(to: request, in: vault)
        if let consent {
            guard try promptForConsent(consent, nil) == .once else { throw Refusal(.cancelled) }
        }
        let epoch = vault.epoch
        let held = room.connectionKeys.keys(on: self)
        let outcome = try vault.circle(
            request, isApproved: consent != nil, secret: secret, recovering: held.recovering, recoveryKey: held.recoveryKey,
            card: room.inbox.card)
        room.connectionKeys.change(on: self, in: vault, since: epoch) { keys in
            keys.recovering = outcome.recovering
            keys.recoveryKey = outcome.recoveryKey
            keys.circle = outcome.opened ?? keys.circle
        }
        if request == .makeRecoveryKey, let key = outcome.recoveryKey {
            return Response(.circle(outcome.reply), secret: key.bytes.duplicate())
        }
        if let seed = outcome.seed { return Response(.circle(outcome.reply), secret: seed.bytes.duplicate()) }
        if let files = outcome.files { return Response(.circle(outcome.reply), secret: files.fileKeys()) }
        guard let opened = outcome.opened else { return Response(.circle(outcome.reply)) }
        return Response(.circle(outcome.reply), secret: opened.fileKeys())
    }

    /// Returns the consent that a request needs. Compares its codes before the user is prompted.
    private func consent(to request: CircleRequest, in vault: Vault) throws(Refusal) -> Consent? {
        switch request {
        case .approve(let reveal, let code):
            // The prompt also shows the code, since a program that runs the command has the code of the device that it wants to admit.
            try vault.newcomerToAdmit(reveal, code: code).map { Consent(.admitDevice, of: $0) }
        case .admitCompanion(let reveal, let code, _, let shown):
            try vault.newcomerToAdmit(reveal, code: code).map { Consent(.admitCompanion, of: $0, shown: shown) }
        case .enter(let statement, let code): Self.consent(toEnterBy: try vault.sponsor(statement, code: code))
        case .remove(let device): Consent(.removeDevice, offered: .once, program: try vault.nameOfDevice(device))
        case .allow(let device, _, let shown):
            Consent(.allowItems, offered: .once, owner: shown, program: try vault.nameOfDevice(device))
        case .disallow(let device, _, let shown):
            Consent(.disallowItems, offered: .once, owner: shown, program: try vault.nameOfDevice(device))
        case .makeToken(let name, let seconds, _, let shown):
            try Self.consent(toTokenOf: name, seconds, shown, in: vault)
        case .redeem(let token): Consent(.enterAsCompanion, offered: .once, program: try vault.sponsor(ofToken: token).name)
        case .makeRecoveryKey: Consent(.makeRecoveryKey, offered: .once)
        case .endRecoveryKey: Consent(.endRecoveryKey, offered: .once)
        case .enterByRecoveryKey: try consentToEnterByRecoveryKey()
        case .begin, .apply, .answer, .reveal, .follow, .view, .open, .sign, .leave, .companionFiles, .admitByToken, .enterByToken,
            .revokeToken, .confirmRecoveryKey, .findByRecoveryKey, .followByRecoveryKey, .signKeyCard:
            nil
        }
    }

    /// The prompt shows the devices of the circle, since whoever carries the folder could hide a removal.
    private func consentToEnterByRecoveryKey() throws(Refusal) -> Consent {
        guard let recovering = room.connectionKeys.keys(on: self).recovering else {
            throw room.connectionKeys.refusal(on: self, "No circle was found by a recovery key; run the command again")
        }
        // The prompt has room for short names of all devices, so none hides another.
        let names = recovering.names.map { "“\(PlainLine.bothEnds($0, bytesMax: Self.shownNameBytesMax))”" }
        return Consent(.enterByRecoveryKey, offered: .once, program: "\(names.count): \(names.joined(separator: ", "))")
    }

    private static func consent(toTokenOf name: String, _ seconds: Int64, _ shown: String, in vault: Vault) throws(Refusal) -> Consent {
        try vault.checkToken(named: name)
        return Consent(.makeToken, offered: .once, item: DurationText.exact(seconds), owner: shown, program: name)
    }

    private static func consent(toEnterBy sponsor: (member: CircleCounterpart, isOfCompanion: Bool)) -> Consent {
        Consent(sponsor.isOfCompanion ? .enterAsCompanion : .enterCircle, of: sponsor.member)
    }

    func sealForCircle(_ row: RowBinding, wrapped: [UInt8]) throws(Refusal) -> Response {
        let sealed = try vault().sealForCircle(row, wrapped: wrapped, in: try openedCircle())
        return Response(.sealed(wrapped: sealed.wrapped), secret: sealed.key.duplicate())
    }

    func sealForCompanion(_ row: RowBinding, wrapped: [UInt8], device: [UInt8], name: [UInt8]) throws(Refusal) -> Response {
        let sealed = try vault().sealForCompanion(row, wrapped: wrapped, device: device, name: name)
        return Response(.sealed(wrapped: sealed.wrapped), secret: sealed.key.duplicate())
    }

    /// Returns the key of the names, and none on a companion.
    func circleNames() throws(Refusal) -> Response {
        switch try vault().circleNames(of: try openedCircle()) {
        case .none: return Response(.done)
        case .some(let key): return Response(.opened, secret: key)
        }
    }

    func circleItemKeys(_ row: RowBinding, wrapped: [UInt8], epoch: Int64) throws(Refusal) -> Response {
        response(to: try vault().circleItemKeys(row, wrapped: wrapped, epoch: epoch, in: try openedCircle()))
    }

    func openedCircle() throws(Refusal) -> OpenCircle {
        guard let circle = room.connectionKeys.keys(on: self).circle else {
            throw room.connectionKeys.refusal(on: self, "No circle is open; run the command again")
        }
        return circle
    }
}

extension Consent {
    fileprivate init(_ purpose: Purpose, of device: CircleCounterpart, shown: String? = nil) {
        self.init(purpose, offered: .once, item: device.code, owner: shown, program: device.name)
    }
}
