import Glibc
internal import CVaubanBus
internal import VaubanLinuxHost

/// Calls to other programs on the bus, for a process that acts as a client.
extension BusConnection {
    /// Calls a method and returns the arguments of its reply, of which the one at `secretText` is a secret string. Throws an error that the
    /// other program returns as `BusError`. With `waitsForUser`, waits for the reply only as long as the report of this process has a
    /// reader, and discards signals that arrive meanwhile.
    func call(
        _ destination: String, path: String, interface: String, member: String, _ arguments: [BusValue] = [], timeout: UInt64,
        secretText: Int? = nil, waitsForUser: Bool = false
    ) throws -> [BusValue] {
        var made: OpaquePointer?
        let result = sd_bus_message_new_method_call(bus, &made, destination, path, interface, member)
        defer { sd_bus_message_unref(made) }
        try SystemError.checkNegated(result, "write a message")
        guard let message = made else { throw SystemError("write a message", code: 0) }
        sd_bus_message_sensitive(message)
        try BusWriter(message: message).append(arguments)
        let attempt = "call \(member)"
        let answer =
            try waitsForUser
            ? replyOfUser(to: message, destination, timeout: timeout, attempt: attempt)
            : replyOfProgram(to: message, timeout: timeout, attempt: attempt)
        defer { sd_bus_message_unref(answer) }
        guard let reply = answer else { return [] }
        // Has sd-bus overwrite the secrets when the message is freed.
        sd_bus_message_sensitive(reply)
        return try BusReader.arguments(of: reply, secretText: secretText)
    }

    /// Sends a call and returns its reply.
    private func replyOfProgram(to message: OpaquePointer, timeout: UInt64, attempt: String) throws -> OpaquePointer? {
        var failure = sd_bus_error(name: nil, message: nil, _need_free: 0)
        defer { sd_bus_error_free(&failure) }
        var answer: OpaquePointer?
        let outcome = sd_bus_call(bus, message, timeout / 1000, &failure, &answer)
        if failure.name != nil { throw BusError(name: text(failure.name), text: text(failure.message)) }
        try SystemError.checkNegated(outcome, attempt)
        return answer
    }

    /// Does the same for a reply that depends on the user.
    private func replyOfUser(
        to message: OpaquePointer, _ destination: String, timeout: UInt64, attempt: String
    ) throws -> OpaquePointer? {
        var cookie: UInt64 = 0
        try SystemError.checkNegated(sd_bus_send(bus, message, &cookie), attempt)
        let deadline = MachineClock.monotonic + timeout
        while MachineClock.monotonic < deadline {
            var taken: OpaquePointer?
            let worked = try SystemError.checkNegated(sd_bus_process(bus, &taken), "hear the bus")
            guard let received = taken else {
                if worked == 0 { try waitForBus(until: deadline) }
                continue
            }
            var answered: UInt64 = 0
            guard sd_bus_message_get_reply_cookie(received, &answered) >= 0, answered == cookie,
                [destination, Self.daemon].contains(text(sd_bus_message_get_sender(received)))
            else {
                sd_bus_message_unref(received)
                continue
            }
            guard sd_bus_message_is_method_error(received, nil) > 0 else { return received }
            defer { sd_bus_message_unref(received) }
            let error = sd_bus_message_get_error(received)?.pointee
            throw BusError(name: text(error?.name), text: text(error?.message))
        }
        throw BusError(name: "org.freedesktop.DBus.Error.Timeout", text: "")
    }

    /// Waits for a signal that matches a rule of `watch`, and returns its arguments. Returns nil if the deadline passes, or if the sender
    /// leaves the bus first, which is noticed only after `watchClients`. Throws `TransferReport.unread` if the report of this process has
    /// no reader any more.
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

    /// Waits until there may be something on the bus, or the deadline has passed.
    private func waitForBus(until deadline: UInt64) throws(SystemError) {
        let wait = try nextWait
        let left = MachineClock.pollTime(until: deadline)
        // poll reports that the other end of a pipe is closed even if no event is requested.
        var pollers = [wait.poller, pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)]
        let found = poll(&pollers, nfds_t(pollers.count), wait.milliseconds < 0 ? left : min(left, wait.milliseconds))
        if found < 0, errno != EINTR { throw SystemError("wait for the bus", code: errno) }
        if found > 0, pollers[1].revents != 0 { throw TransferReport.unread }
    }
}
