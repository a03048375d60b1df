// Canary items, for the command line and prompt agents (Specs/canaries.md).

package import VaubanKeychainModel
package import VaubanKeychainWire
package import VaubanRefusal

extension KeychainClient {
    /// Makes the one matching password a canary, or an ordinary item again, which prompts the user.
    package func markCanary(_ query: ItemQuery, isCanary: Bool, waiting: Waiting? = nil) throws(Refusal) {
        _ = try call(.canary(.mark(query, isCanary: isCanary)), secret: nil, password: nil, waiting: waiting)
    }

    /// Returns the canary items, without their values. Prompts the user.
    package func canaries(waiting: Waiting? = nil) throws(Refusal) -> [ItemRecord] {
        try call(.canary(.list), secret: nil, password: nil, waiting: waiting).found.compactMap(\.record)
    }

    /// Returns the number of uses of canary items. With `number`, waits until there are more than that, but no longer than some minutes.
    package func canaryAlerts(after number: Int64? = nil) throws(Refusal) -> CanaryAlerts {
        let request = KeychainRequest.canary(.alerts(after: number))
        // This request can take as long as one that waits for the user.
        let outcome = try call(request, secret: nil, waiting: nil, progress: number.map { _ in { _ in } })
        guard case .canaryAlerts(let alerts)? = outcome.reply else {
            throw Refusal(.internalError, "the service knows no canary items; update Vauban")
        }
        return alerts
    }

    /// Records that the user has seen the first `total` alerts. Prompts the user.
    package func acknowledgeCanaryAlerts(_ total: Int64, waiting: Waiting? = nil) throws(Refusal) {
        _ = try call(.canary(.acknowledge(total: total)), secret: nil, password: nil, waiting: waiting)
    }
}
