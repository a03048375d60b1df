import Dispatch
import Foundation
import Glibc
import TestSupport
import Testing
import VaubanLinuxHost
import VaubanSecretBytes

/// Frames: what arrives is what was sent, however it was split, and a malformed frame is refused with the right error.
@Suite struct ChannelTests {
    private let raw: RawPeer
    private let channel: Channel

    init() throws {
        let pair = try SocketPair()
        raw = RawPeer(socket: pair.first)
        let expected = ExpectedSender.process(pid: getpid(), uid: geteuid())
        channel = try Channel(socket: pair.second, expecting: expected, receivingWithin: HangLimit.nanoseconds)
    }

    /// Returns the error that ended the wait for a message; nil if one arrived.
    private func fault(_ timeout: Timeout = .hanging) -> String? {
        do throws(ChannelError) {
            _ = try channel.receive(timeout)
            return nil
        } catch {
            return "\(error)".components(separatedBy: "(")[0]
        }
    }

    private func sample(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) } }

    /// The receiver's buffer holds 8 + 60,000 + 4,096 bytes; anything larger is read past it.
    static let sizes: [(header: Int, secret: Int)] = [
        (1, 0), (1, 1), (7, 32), (60_000, 0), (59_999, 1), (1, 64_094), (1, 64_095), (1, 64_096), (1, 64_097), (60_000, 4_095),
        (60_000, 4_096),
        (60_000, 4_097), (60_000, 65_536), (100, 65_535), (100, 65_536), (100, 65_537), (1, (1 << 20) - 1), (1, 1 << 20), (60_000, 1 << 20),
    ]

    @Test("Messages of all sizes arrive", arguments: sizes) func messagesOfAllSizesArrive(_ headerCount: Int, _ secretCount: Int) throws {
        let header = sample(headerCount), secret = sample(secretCount)
        let sender = try Channel(socket: raw.socket, expecting: .process(pid: getpid(), uid: geteuid()))
        // Another message follows, to check that the stream is still in step.
        let sending = Background {
            if secret.isEmpty {
                try sender.send(header: header)
            } else {
                try sender.send(header: header, secret: SecretBytes(copying: secret))
            }
            try sender.send(header: [9])
        }
        var message = try channel.receive(.hanging)
        let secretReceived = bytes(message.takeSecret()), second = bytes(message.takeSecret())
        #expect(message.header == header)
        #expect(secretReceived == (secret.isEmpty ? nil : secret) && second == nil)
        let next = try channel.receive(.hanging)
        #expect(next.header == [9])
        try sending.value()
    }

    @Test("Messages that are sent together arrive one by one") func messagesSentTogetherArriveOneByOne() throws {
        let sender = try Channel(socket: raw.socket, expecting: .process(pid: getpid(), uid: geteuid()))
        let headers = [[1], [2, 2], sample(60_000), [4]] as [[UInt8]]
        let sending = Background { try sender.send(headers: headers) }
        for header in headers {
            var message = try channel.receive(.hanging)
            let none = message.takeSecret() == nil
            #expect(message.header == header && none)
        }
        try sending.value()
        #expect(throws: ChannelError.self) { try sender.send(headers: [[1], sample(60_001)]) }
    }

    /// Above a limit the secret is not copied, and the two messages are sent one after the other.
    @Test("A message that is sent together with the next one arrives as two", arguments: [nil, 0, 1, 32, 4096, 4097, 70_000] as [Int?])
    func messageSentWithTheNextArrivesAsTwo(_ secretCount: Int?) throws {
        let secret = secretCount.map(sample)
        let sender = try Channel(socket: raw.socket, expecting: .process(pid: getpid(), uid: geteuid()))
        let sending = Background {
            switch secret {
            case .none: try sender.send(header: [1, 2], secret: nil, followedBy: [3])
            case .some(let secret): try sender.send(header: [1, 2], secret: SecretBytes(copying: secret), followedBy: [3])
            }
            try sender.send(header: [4])
        }
        var message = try channel.receive(.hanging)
        let received = bytes(message.takeSecret())
        #expect(message.header == [1, 2] && received == (secret?.isEmpty == false ? secret : nil))
        for header in [[3], [4]] as [[UInt8]] {
            var next = try channel.receive(.hanging)
            let none = next.takeSecret() == nil
            #expect(next.header == header && none)
        }
        try sending.value()
    }

    @Test("Several messages in one write arrive separately") func severalMessagesInOneWriteArriveSeparately() throws {
        let secret = sample(70_000)
        let whole = Frame.message([1]) + Frame.message([2, 2], secret: [7]) + Frame.message([3], secret: secret) + Frame.message([4])
        let raw = raw
        let sending = Background { try raw.send(Array(whole)) }
        for (header, expected) in [([1], nil), ([2, 2], [7]), ([3], secret), ([4], nil)] as [([UInt8], [UInt8]?)] {
            var message = try channel.receive(.hanging)
            let received = bytes(message.takeSecret())
            #expect(message.header == header && received == expected)
        }
        try sending.value()
    }

    @Test("A message may be split into two writes anywhere") func splittingOfWritesHasNoEffect() throws {
        let whole = Frame.message([1, 2, 3], secret: [4, 5]) + Frame.message([6])
        for cut in 1..<whole.count {
            let raw = raw
            let sending = Background {
                try raw.send(Array(whole[..<cut]))
                try raw.send(Array(whole[cut...]))
            }
            var first = try channel.receive(.hanging)
            let secret = bytes(first.takeSecret())
            let second = try channel.receive(.hanging)
            #expect(first.header == [1, 2, 3] && secret == [4, 5] && second.header == [6])
            try sending.value()
        }
    }

    @Test("A truncated message is malformed") func truncatedMessageIsMalformed() throws {
        let whole = Frame.message([1, 2, 3], secret: [4, 5])
        for count in 0..<whole.count {
            let pair = try SocketPair()
            let peer = RawPeer(socket: pair.first)
            let channel = try Channel(socket: pair.second, expecting: .process(pid: getpid(), uid: geteuid()))
            if count > 0 { try peer.send(Array(whole.prefix(count))) }
            peer.finish()
            do throws(ChannelError) {
                _ = try channel.receive(.hanging)
                Issue.record("a message of \(count) bytes was taken")
            } catch {
                switch error {
                case .closed: #expect(count == 0)
                case .malformed: #expect(count > 0)
                default: Issue.record("\(error)")
                }
            }
        }
    }

    @Test("A truncated large secret is malformed") func truncatedLargeSecretIsMalformed() throws {
        try raw.send(Frame.lengths(1, 1 << 20) + [1] + sample(1000))
        raw.finish()
        #expect(fault() == "malformed")
    }

    /// The lengths alone decide; nothing of the content that they announce is awaited or stored.
    @Test(
        "An oversized frame is refused by its lengths alone",
        arguments: [(60_001, 0), (0, 1 << 20 + 1), (1, 1 << 20 + 1), (0x7FFF_FFFF, 0), (0xFFFF_FFFF, 0xFFFF_FFFF), (1, 0xFFFF_FFFF)])
    func oversizedFrameIsRefusedByItsLengths(_ header: Int, _ secret: Int) throws {
        try raw.send(Frame.lengths(header, secret))
        #expect(fault() == "oversized")
    }

    @Test("A frame without a header is malformed") func frameWithoutHeaderIsMalformed() throws {
        try raw.send(Frame.lengths(0, 5) + sample(5))
        #expect(fault() == "malformed")
    }

    @Test("Bytes after a message begin the next one") func bytesAfterAMessageBeginTheNext() throws {
        try raw.send(Frame.message([1]) + [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0])
        let message = try channel.receive(.hanging)
        #expect(message.header == [1])
        #expect(fault() == "oversized")
    }

    @Test("An oversized message is not sent") func oversizedMessageIsNotSent() throws {
        #expect(throws: ChannelError.self) { try channel.send(header: [UInt8](repeating: 0, count: 60_001)) }
        #expect(throws: ChannelError.self) { try channel.send(header: [1], secret: SecretBytes(count: 1 << 20 + 1) { _ in }) }
        try channel.send(header: [2])
        #expect(raw.receive(9) == Frame.message([2]))
    }

    // MARK: Waiting

    @Test("A timeout leaves the connection usable") func timeoutLeavesTheConnectionUsable() throws {
        #expect(fault(.after(1_000_000)) == "deadline")
        try raw.send(Frame.message([1]))
        #expect(fault() == nil)
    }

    /// Only the socket's time limit ends the first wait.
    @Test("A wait as long as the channel's receive time ends, and a longer one goes on") func receiveTimeOfTheChannel() throws {
        let pair = try SocketPair()
        let peer = RawPeer(socket: pair.first)
        let expected = ExpectedSender.process(pid: getpid(), uid: geteuid())
        let channel = try Channel(socket: pair.second, expecting: expected, receivingWithin: 1_000_000)
        #expect(throws: ChannelError.self) { _ = try channel.receive(.after(1_000_000)) }
        let receiving = Background { try channel.receive(.hanging).header }
        try peer.send(Frame.message([1]))
        #expect(try receiving.value() == [1])
    }

    /// The kernel says in which call the thread sleeps: first in the receive, whose time limit ends, and then in a poll without one.
    @Test("A wait for the next message wakes once, and then has no time limit") func idleWaitHasNoTimeLimit() throws {
        let pair = try SocketPair()
        let peer = RawPeer(socket: pair.first)
        let expected = ExpectedSender.process(pid: getpid(), uid: geteuid())
        let channel = try Channel(socket: pair.second, expecting: expected, receivingWithin: 1_000_000)
        let receiving = Background {
            ThreadProbe.nameThread("idle wait")
            return try channel.receive(.idle).header
        }
        #expect(ThreadProbe.waitUntilPolling("idle wait"))
        try peer.send(Frame.message([1]))
        #expect(try receiving.value() == [1])
    }

    @Test("A hang-up of the watched connection ends the wait") func watchedHangUpEndsTheWait() throws {
        let watched = try SocketPair()
        shutdown(watched.first.number, Int32(SHUT_RDWR))
        do throws(ChannelError) {
            _ = try channel.receive(.idle, watching: watched.second)
            Issue.record("a message came from nowhere")
        } catch {
            guard case .watchedEnded = error else {
                Issue.record("\(error)")
                return
            }
        }
        // A message that has already arrived comes first.
        try raw.send(Frame.message([1]))
        let message = try channel.receive(.idle, watching: watched.second)
        #expect(message.header == [1])
    }

    @Test("A server that waits until something is due counts as idle, and loses no message") func idleUntilDue() throws {
        #expect(fault(.idleUntilDue(1_000_000)) == "deadline")
        let channel = channel
        let receiving = Background { try channel.receive(.idleUntilDue(3_600_000_000_000)).header }
        while channel.idleSince == nil { sched_yield() }
        try raw.send(Frame.message([1]))
        #expect(try receiving.value() == [1])
        #expect(channel.idleSince == nil)
    }

    @Test("Shutting a connection down wakes its receiver") func shuttingDownWakesAReceiver() throws {
        let channel = channel
        let receiving = Background { () -> Bool in
            do throws(ChannelError) {
                _ = try channel.receive(.idle)
                return false
            } catch {
                if case .closed = error { return true }
                return false
            }
        }
        channel.shutDown()
        #expect(try receiving.value())
        #expect(throws: ChannelError.self) { try channel.send(header: [1]) }
    }

    /// A peer that does not read holds up one sender for its timeout, and not the next ones.
    @Test("A message that cannot be sent completely ends the connection") func incompleteMessageEndsTheConnection() throws {
        var time = timeval(tv_sec: 0, tv_usec: 100_000)
        try SystemError.check(
            setsockopt(channel.socket.number, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size)), "set a time limit")
        #expect(throws: ChannelError.self) { try channel.send(header: [1], secret: SecretBytes(copying: sample(1 << 20))) }
        do throws(ChannelError) {
            try channel.send(header: [1])
            Issue.record("what follows half a message was sent")
        } catch {
            guard case .closed = error else { throw error }
        }
    }

    @Test("Senders in several threads take turns") func sendersInSeveralThreadsTakeTurns() throws {
        let sender = try Channel(socket: raw.socket, expecting: .process(pid: getpid(), uid: geteuid()))
        let sending = (1...4).map { number in
            Background {
                for _ in 1...20 {
                    try sender.send(header: [UInt8(number)], secret: SecretBytes(copying: [UInt8](repeating: UInt8(number), count: 30_000)))
                }
            }
        }
        for _ in 1...80 {
            var message = try channel.receive(.hanging)
            let secret = bytes(message.takeSecret())
            #expect(secret == [UInt8](repeating: message.header[0], count: 30_000))
        }
        for step in sending { try step.value() }
    }
}
