/// The wait for the reply to one request. A machine replies within its time; once it reports that the user is prompted, the reply may take
/// as long as the user may.
package struct ReplyWait: Sendable {
    /// How long the next message may take.
    package private(set) var timeout: Timeout
    /// A connection whose hang-up ends the wait, such as that of the caller on whose behalf the request was sent.
    package var watched: Descriptor?
    package private(set) var userWasPrompted = false

    package init(_ timeout: Timeout = .machine, watching watched: Descriptor? = nil) {
        self.timeout = timeout
        self.watched = watched
    }

    /// Returns the next message: the reply, or one that precedes it.
    package func message(on channel: Channel) throws(ChannelError) -> Message { try channel.receive(timeout, watching: watched) }

    /// Notes that the user is prompted, perhaps at another place than before.
    package mutating func userIsPrompted() {
        userWasPrompted = true
        // The peer ends the prompt itself, and then still has to reply.
        timeout = .after(ConnectionLimits.userTimeout + ConnectionLimits.machineTime)
    }
}
