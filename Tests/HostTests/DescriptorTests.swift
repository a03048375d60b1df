import CVaubanLinux
import Foundation
import Glibc
import TestSupport
import Testing
import VaubanLinuxHost
import VaubanSecretBytes

/// Descriptors beside messages, and which processes may write a message.
@Suite struct DescriptorTests {
    private let raw: RawPeer
    private let channel: Channel

    init() throws {
        let pair = try SocketPair()
        raw = RawPeer(socket: pair.first)
        let expected = ExpectedSender.process(pid: getpid(), uid: geteuid())
        channel = try Channel(socket: pair.second, expecting: expected, receivingWithin: HangLimit.nanoseconds)
    }

    private func isMalformed() -> Bool {
        do throws(ChannelError) {
            _ = try channel.receive(.hanging)
        } catch {
            if case .malformed = error { return true }
        }
        return false
    }

    /// Creates memory files of a name that no other test uses, so that they can be counted.
    private func memory(_ count: Int, _ name: String) throws -> [Descriptor] {
        try (0..<count).map { _ in Descriptor(try SystemError.checkNegated(vauban_sealed_memory(name, "x", 1), "make a memory file")) }
    }

    @Test("Up to four descriptors arrive with a message", arguments: 0...4) func upToFourDescriptorsComeWithAMessage(_ count: Int) throws {
        let sent = try memory(count, "few")
        try raw.send(Frame.message([1]), descriptors: sent)
        let message = try channel.receive(.hanging)
        #expect(message.descriptors.count == count)
        for (received, original) in zip(message.descriptors, sent) {
            #expect(SealedMemory.bytes(of: received, madeBy: geteuid(), max: 1) == [0x78] && received.number != original.number)
            #expect(fcntl(received.number, F_GETFD) & FD_CLOEXEC != 0)
        }
        try raw.send(Frame.message([2]))
        let next = try channel.receive(.hanging)
        #expect(next.descriptors.isEmpty)
    }

    @Test("Surplus descriptors are refused and closed", arguments: [5, 16, 17, 100])
    func surplusDescriptorsAreRefusedAndClosed(_ count: Int) throws {
        let name = "many-\(count)"
        let sent = try memory(count, name)
        try raw.sendUnbounded(0, descriptors: sent)
        #expect(isMalformed())
        #expect(descriptors(linkedTo: "/memfd:\(name)") == count)
        withExtendedLifetime(sent) {}
    }

    @Test("A sender refuses surplus descriptors") func senderRefusesSurplusDescriptors() throws {
        let sent = try memory(5, "own")
        #expect(throws: ChannelError.self) { try channel.send(header: [1], descriptors: sent) }
    }

    @Test("A released message closes its descriptors") func droppedMessagesCloseTheirDescriptors() throws {
        let sent = try memory(4, "dropped")
        try raw.send(Frame.message([1]), descriptors: sent)
        do { _ = try channel.receive(.hanging) }
        #expect(descriptors(linkedTo: "/memfd:dropped") == 4)
        withExtendedLifetime(sent) {}
    }

    /// A message without descriptors and one with, read in one receive: the descriptors belong to the second.
    @Test("Descriptors belong to the message that they came with") func descriptorsBelongToTheMessageTheyCameWith() throws {
        try raw.send(Frame.message([1]))
        try raw.send(Frame.message([2]), descriptors: memory(1, "second"))
        try raw.send(Frame.message([3]))
        var counts: [Int] = []
        for _ in 1...3 {
            let message = try channel.receive(.hanging)
            counts.append(message.descriptors.count)
        }
        #expect(counts == [0, 1, 0])
    }

    /// The limit applies to a message, not to a write.
    @Test("Descriptors that arrive with the pieces of one message are counted together")
    func descriptorsInPiecesAreCountedTogether() throws {
        let whole = Frame.message([1, 2, 3])
        let sent = try memory(4, "pieces")
        for byte in whole { try raw.send([byte], descriptors: sent) }
        #expect(isMalformed())
    }

    // MARK: Senders

    @Test("Another process cannot send a message on the connection") func anotherProcessCannotSendAMessage() throws {
        #expect(try Child.writing(Frame.message([1]), to: raw.socket).wait() == 0)
        do throws(ChannelError) {
            _ = try channel.receive(.hanging)
            Issue.record("a foreign message was taken")
        } catch {
            guard case .foreignSender = error else {
                Issue.record("\(error)")
                return
            }
        }
    }

    /// Bytes of two processes never form one message.
    @Test("Another process cannot finish a message on the connection") func anotherProcessCannotFinishAMessage() throws {
        try raw.send(Array(Frame.message([1, 2, 3]).dropLast()))
        #expect(try Child.writing([3], to: raw.socket).wait() == 0)
        do throws(ChannelError) {
            _ = try channel.receive(.hanging)
            Issue.record("a message of two processes was taken")
        } catch {
            guard case .foreignSender = error else {
                Issue.record("\(error)")
                return
            }
        }
    }

    @Test("A connection that was shared does not affect others") func sharedConnectionAffectsNoOther() throws {
        let other = try SocketPair()
        let good = try Channel(socket: other.second, expecting: .process(pid: getpid(), uid: geteuid()))
        _ = try Child.writing([3], to: raw.socket).wait()
        try RawPeer(socket: other.first).send(Frame.message([5]))
        let message = try good.receive(.hanging)
        #expect(message.header == [5])
    }

    @Test("A client checks only the uid of its server") func clientChecksOnlyTheUID() throws {
        let pair = try SocketPair()
        let client = try Channel(socket: pair.second, expecting: .user(uid: geteuid()))
        #expect(try Child.writing(Frame.message(Array("x".utf8)), to: pair.first).wait() == 0)
        let message = try client.receive(.hanging)
        #expect(message.header == Array("x".utf8))

        let stranger = try SocketPair()
        let wary = try Channel(socket: stranger.second, expecting: .user(uid: geteuid() &+ 1))
        try RawPeer(socket: stranger.first).send(Frame.message([1]))
        #expect(throws: ChannelError.self) { _ = try wary.receive(.hanging) }
    }
}
