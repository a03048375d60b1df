import Glibc
internal import CVaubanBus
internal import VaubanLinuxHost

/// One connection to the session bus, used by one thread at a time.
final class BusConnection {
    enum Event {
        case call(BusCall)
        case gone(String)
        /// Another connection owns a name that this connection owned, or none does.
        case lost(String)
        case nothing
    }

    static let daemon = "org.freedesktop.DBus"
    static let daemonPath = "/org/freedesktop/DBus"
    let bus: OpaquePointer
    /// For each call without a reply yet, the message that its reply needs.
    private var calls: [UInt64: OpaquePointer] = [:]
    private var lastNumber: UInt64 = 0
    /// Whether a large call has ended since free memory was last released.
    var hasEndedLargeCall = false
    /// When free memory may be released again, in nanoseconds of the monotonic clock.
    var nextRelease: UInt64 = 0
    /// This connection's serial number on the bus (`:1.7`), which the bus assigns in order, and when it was established, in nanoseconds
    /// since the boot.
    private(set) var own: (place: UInt64, since: UInt64) = (0, 0)

    init(address: String) throws(SystemError) {
        var made: OpaquePointer?
        try SystemError.checkNegated(sd_bus_new(&made), "reach the session bus")
        guard let made else { throw SystemError("reach the session bus", code: ENOMEM) }
        bus = made
        let deadline = SecretServiceLimits.busAnswerMax / 1000
        for result in [
            sd_bus_set_address(bus, address), sd_bus_set_bus_client(bus, 1), sd_bus_set_method_call_timeout(bus, deadline),
            sd_bus_start(bus),
        ] { try SystemError.checkNegated(result, "reach the session bus") }
        var name: UnsafePointer<CChar>?
        try SystemError.checkNegated(sd_bus_get_unique_name(bus, &name), "reach the session bus")
        own = (Self.place(of: text(name)), MachineClock.boot)
    }

    deinit {
        for message in calls.values { sd_bus_message_unref(message) }
        sd_bus_flush_close_unref(bus)
    }

    /// Returns the next event, or `nothing` if there is none at the moment.
    func next() throws(SystemError) -> Event {
        while true {
            var taken: OpaquePointer?
            let worked = try SystemError.checkNegated(sd_bus_process(bus, &taken), "hear the bus")
            guard let message = taken else {
                if worked > 0 { continue }
                return .nothing
            }
            defer { sd_bus_message_unref(message) }
            if sd_bus_message_is_signal(message, Self.daemon, "NameOwnerChanged") > 0 {
                guard text(sd_bus_message_get_sender(message)) == Self.daemon, let values = try? BusReader.arguments(of: message),
                    values.count == 3, values[2].text == "", let name = values[0].text
                else { continue }
                return .gone(name)
            }
            if sd_bus_message_is_signal(message, Self.daemon, "NameLost") > 0 {
                guard text(sd_bus_message_get_sender(message)) == Self.daemon, let values = try? BusReader.arguments(of: message),
                    let name = values.first?.text
                else { continue }
                return .lost(name)
            }
            if sd_bus_message_is_method_call(message, nil, nil) > 0, let call = try received(message) { return .call(call) }
        }
    }

    /// Returns the call in a message. Replies with an error and returns nil if the message is invalid.
    private func received(_ message: OpaquePointer) throws(SystemError) -> BusCall? {
        let read: (values: [BusValue], bytes: Int)
        do throws(SystemError) {
            let place = WalletInterface.secretText(of: text(sd_bus_message_get_member(message)))
            read = try BusReader.counted(message, secretText: place, bytesMax: SecretServiceLimits.callBytesMax)
        } catch {
            let isTooLarge = error.code == EMSGSIZE
            if isTooLarge { hasEndedLargeCall = true }
            fail(
                message,
                isTooLarge
                    ? BusError(.limitsExceeded, "The call is too large") : BusError(.invalidArguments, "The arguments cannot be read"))
            return nil
        }
        lastNumber += 1
        do throws(SystemError) { calls[lastNumber] = try stub(of: message) } catch {
            fail(message, BusError(.limitsExceeded, "There is no memory for the call"))
            return nil
        }
        return BusCall(
            number: lastNumber, sender: text(sd_bus_message_get_sender(message)), path: text(sd_bus_message_get_path(message)),
            interface: text(sd_bus_message_get_interface(message)), member: text(sd_bus_message_get_member(message)),
            signature: text(sd_bus_message_get_signature(message, 1)), arguments: read.values, bytes: read.bytes,
            arrival: MachineClock.monotonic)
    }

    /// Returns a message that keeps the sender and the serial number of a call for its reply, without its arguments; nil if the caller
    /// expects no reply.
    private func stub(of call: OpaquePointer) throws(SystemError) -> OpaquePointer? {
        guard sd_bus_message_get_expect_reply(call) > 0, let sender = sd_bus_message_get_sender(call) else { return nil }
        var made: OpaquePointer?
        try SystemError.checkNegated(sd_bus_message_new_method_call(bus, &made, nil, "/", nil, "Call"), "keep a call")
        guard let stub = made else { throw SystemError("keep a call", code: ENOMEM) }
        var number: UInt64 = 0
        for result in [
            sd_bus_message_set_sender(stub, sender), sd_bus_message_get_cookie(call, &number), sd_bus_message_seal(stub, number, 0),
        ] where result < 0 {
            sd_bus_message_unref(stub)
            throw SystemError("keep a call", code: -result)
        }
        return stub
    }

    /// Sends a message. Sends an error instead if the message cannot be encoded.
    func send(_ outgoing: BusOutgoing) throws(SystemError) {
        switch outgoing {
        case .reply(let number, let values):
            guard let call = calls.removeValue(forKey: number) else { return }
            defer { sd_bus_message_unref(call) }
            do throws(SystemError) {
                try send(values) { sd_bus_message_new_method_return(call, &$0) }
            } catch {
                let isTooLarge = error.code == EMSGSIZE
                fail(
                    call,
                    isTooLarge
                        ? BusError(.limitsExceeded, "The answer is larger than a message of the bus can be")
                        : BusError(.failed, "The answer cannot be sent"))
            }
        case .failure(let number, let failure):
            guard let call = calls.removeValue(forKey: number) else { return }
            defer { sd_bus_message_unref(call) }
            fail(call, failure)
        case .signal(let path, let interface, let member, let values, let destination):
            try send(values) { message in
                let made = sd_bus_message_new_signal(bus, &message, path, interface, member)
                guard made >= 0, let destination else { return made }
                return sd_bus_message_set_destination(message, destination)
            }
        case .call(let destination, let path, let interface, let member, let values):
            try send(values) { message in
                let made = sd_bus_message_new_method_call(bus, &message, destination, path, interface, member)
                return made < 0 ? made : sd_bus_message_set_expect_reply(message, 0)
            }
        }
    }

    private func send(_ values: [BusValue], _ make: (inout OpaquePointer?) -> Int32) throws(SystemError) {
        guard MessageSize(of: values).fits else { throw SystemError("write a message", code: EMSGSIZE) }
        var made: OpaquePointer?
        let result = make(&made)
        defer { sd_bus_message_unref(made) }
        try SystemError.checkNegated(result, "write a message")
        guard let message = made else { return }
        // Has sd-bus overwrite the message's memory when it is freed.
        sd_bus_message_sensitive(message)
        try BusWriter(message: message).append(values)
        try SystemError.checkNegated(sd_bus_send(bus, message, nil), "send a message")
    }

    private func fail(_ call: OpaquePointer, _ failure: BusError) {
        failure.name.withCString { name in
            failure.text.withCString { text in
                var error = sd_bus_error(name: name, message: text, _need_free: 0)
                _ = sd_bus_reply_method_error(call, &error)
            }
        }
    }

    /// Whether sd-bus still holds messages that the socket has not accepted.
    var hasUnsent: Bool {
        get throws(SystemError) { try SystemError.checkNegated(sd_bus_get_events(bus), "wait for the bus") & Int32(POLLOUT) != 0 }
    }

    /// The events and the timeout to wait for before the next call of `next`.
    var nextWait: BusWait {
        get throws(SystemError) {
            let events = try SystemError.checkNegated(sd_bus_get_events(bus), "wait for the bus")
            var until: UInt64 = .max
            try SystemError.checkNegated(sd_bus_get_timeout(bus, &until), "wait for the bus")
            // Otherwise the memory of the last large call would be kept until the next message.
            if hasEndedLargeCall, events & Int32(POLLOUT) == 0 { until = min(until, nextRelease / 1000) }
            let now = MachineClock.monotonic / 1000
            return BusWait(
                poller: pollfd(fd: sd_bus_get_fd(bus), events: Int16(events), revents: 0),
                milliseconds: until == .max ? -1 : until <= now ? 0 : Int32(clamping: (until - now) / 1000 + 1))
        }
    }

    func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }
}

/// A wait for events of the bus that does not use the connection itself.
struct BusWait {
    let poller: pollfd
    let milliseconds: Int32

    /// Waits until the bus has an event or the descriptor is readable. Returns whether the descriptor is readable.
    func untilSignal(on descriptor: Int32) -> Bool {
        var pollers = [poller, pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
        return poll(&pollers, nfds_t(pollers.count), milliseconds) > 0 && pollers[1].revents != 0
    }
}
