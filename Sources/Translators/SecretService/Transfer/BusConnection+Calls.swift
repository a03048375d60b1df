import Glibc
internal import CVaubanBus
internal import VaubanLinuxHost

/// Calls to other programs on the bus, for a process that is a client.
extension BusConnection {
    /// Calls a method and returns the arguments of its answer, of which the one at `secretText` is a string that is a secret. An error that
    /// the other program answers is thrown as `BusFailure`.
    func call(
        _ destination: String, path: String, interface: String, member: String, _ arguments: [BusValue] = [], timeout: UInt64,
        secretText: Int? = nil
    ) throws -> [BusValue] {
        var made: OpaquePointer?
        let result = sd_bus_message_new_method_call(bus, &made, destination, path, interface, member)
        defer { sd_bus_message_unref(made) }
        try SystemError.checkNegated(result, "write a message")
        guard let message = made else { throw SystemError("write a message", code: 0) }
        sd_bus_message_sensitive(message)
        try BusWriter(message: message).append(arguments)
        var failure = sd_bus_error(name: nil, message: nil, _need_free: 0)
        defer { sd_bus_error_free(&failure) }
        var answer: OpaquePointer?
        let outcome = sd_bus_call(bus, message, timeout / 1000, &failure, &answer)
        defer { sd_bus_message_unref(answer) }
        if failure.name != nil { throw BusFailure(name: text(failure.name), text: text(failure.message)) }
        try SystemError.checkNegated(outcome, "call \(member)")
        guard let reply = answer else { return [] }
        // Secrets are overwritten when the message is freed.
        sd_bus_message_sensitive(reply)
        return try BusReader.arguments(of: reply, secretText: secretText)
    }

    /// Waits for a signal that a rule of `watch` covers, and returns its arguments; nil if its sender leaves the bus first, which
    /// `watchClients` makes heard, or the deadline passes.
    func signal(
        _ interface: String, _ member: String, path: String, from sender: String, until deadline: UInt64
    ) throws(SystemError) -> [BusValue]? {
        while MachineClock.monotonic < deadline {
            var taken: OpaquePointer?
            let worked = try SystemError.checkNegated(sd_bus_process(bus, &taken), "hear the bus")
            guard let message = taken else {
                if worked == 0 { try waitForBus(until: deadline) }
                continue
            }
            defer { sd_bus_message_unref(message) }
            if sd_bus_message_is_signal(message, Self.daemon, "NameOwnerChanged") > 0,
                text(sd_bus_message_get_sender(message)) == Self.daemon
            {
                if (try? BusReader.arguments(of: message))?.first?.text == sender { return nil }
            } else if sd_bus_message_is_signal(message, interface, member) > 0, text(sd_bus_message_get_sender(message)) == sender,
                text(sd_bus_message_get_path(message)) == path
            {
                return try BusReader.arguments(of: message)
            }
        }
        return nil
    }

    private func waitForBus(until deadline: UInt64) throws(SystemError) {
        let now = MachineClock.monotonic
        let result = sd_bus_wait(bus, deadline > now ? (deadline - now) / 1000 + 1 : 0)
        if result < 0, result != -EINTR { throw SystemError("wait for the bus", code: -result) }
    }
}
