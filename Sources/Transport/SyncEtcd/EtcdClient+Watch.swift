import AsyncHTTPClient
import Glibc
import NIOCore
import VaubanEtcd
import VaubanLinuxHost

extension EtcdClient {
    /// Watches the user's files, at one node after the other, and calls `report` with the sections in which files were added or replaced,
    /// or with none if anything may have changed. Waits out temporary faults; returns the fault for which no node can be watched, also if
    /// no certificate is accepted at any node.
    func watch(_ report: @escaping @Sendable ([String]) -> Void) async -> EtcdError {
        var watch = EtcdWatch(user: account.user)
        var faults = noFaults
        var backoff = Backoff(from: EtcdLimits.watchPauseMillisecondsMin, to: EtcdLimits.watchPauseMillisecondsMax, spread: true)
        while true {
            let began = NIODeadline.now()
            let endpoint = endpoints[0]
            do throws(EtcdError) {
                try await follow(endpoint, watch: &watch, onChange: report)
                faults.forget()
            } catch {
                guard error.mayPass else { return EtcdError(error.kind, "etcd at \(endpoint) \(error.text)") }
                faults.note(error, at: endpoint)
                if let fault = faults.lastingFault(at: Int64(time(nil))) { return fault }
                watch.noteFault()
                endpoints = endpoints.dropFirst() + [endpoint]
            }
            let pause = backoff.pause(afterConnectionLasting: UInt64(max(0, (NIODeadline.now() - began).nanoseconds)))
            do { try await Task.sleep(for: .milliseconds(Int(pause))) } catch { return EtcdError(.refused, "was not asked any more") }
        }
    }

    /// Follows one watch to its end. Gets a new token if the node does not accept this one, or denies the watch: before 3.5, etcd reports
    /// both in the same way.
    private func follow(
        _ endpoint: EtcdEndpoint, watch: inout EtcdWatch, onChange report: ([String]) -> Void
    ) async throws(EtcdError) {
        let known = token
        do throws(EtcdError) {
            if password == nil || known != nil { return try await follow(endpoint, token: known, watch: &watch, onChange: report) }
        } catch {
            guard password != nil, error.kind == .unauthenticated || error.kind == .denied else { throw error }
        }
        let fresh = try await freshToken(endpoint)
        try await follow(endpoint, token: fresh, watch: &watch, onChange: report)
    }

    private func follow(
        _ endpoint: EtcdEndpoint, token: String?, watch: inout EtcdWatch, onChange report: ([String]) -> Void
    ) async throws(EtcdError) {
        let request = watch.request
        let exchange = Exchange(client: client, url: "\(endpoint)\(request.path)", token: token, body: request.body)
        var isConfirmed = false
        do throws(EtcdError) {
            try await exchange.follow(seconds: Int64(EtcdLimits.watchSeconds)) { (line) throws(EtcdError) in
                let step = try watch.take(line)
                isConfirmed = true
                switch step {
                case .goOn: return true
                case .changed(let sections): report(sections)
                case .beginAnew: return false
                }
                return true
            }
        } catch {
            // Nothing changed for a while: the next watch continues from here.
            guard isConfirmed, error == .silent else { throw error }
        }
    }
}
