import NIOCore
import NIOTLS

/// Answers each request with `ok` or a redirect, in HTTP/1.1 or in as much of HTTP/2 as one request needs.
final class TestResponder: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let connection: TestServer.Connection
    private var received: [UInt8] = []
    private var hasGreeted = false

    init(_ connection: TestServer.Connection) { self.connection = connection }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent {
            if connection.speaksHTTP2 {
                send(frame(4, []) + (connection.goesAwayAtOnce ? frame(7, [UInt8](repeating: 0, count: 8)) : []), context)
            }
            if let delay = connection.closesAfter {
                let channel = context.channel
                context.eventLoop.scheduleTask(in: delay) { channel.close(promise: nil) }
            }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += Array(unwrapInboundIn(data).readableBytesView)
        if connection.speaksHTTP2 { answerFrames(context) } else { answerText(context) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func answerText(_ context: ChannelHandlerContext) {
        let request = String(decoding: received, as: UTF8.self)
        guard request.hasSuffix("\r\n\r\n") else { return }
        received = []
        let body = connection.answersWithMethod ? String(request.prefix { $0 != " " }) : "ok"
        let head = connection.redirect.map { "302 Found\r\nLocation: \($0)\r\nContent-Length: 0\r\n\r\n" }
        send(Array("HTTP/1.1 \(head ?? "200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")".utf8), context)
    }

    /// Reads RFC 9113's frames: the preface once, an acknowledgment for settings, and a response for the headers of a request.
    private func answerFrames(_ context: ChannelHandlerContext) {
        let preface = 24
        if !hasGreeted {
            guard received.count >= preface else { return }
            received.removeFirst(preface)
            hasGreeted = true
        }
        while received.count >= 9 {
            let length = received[0..<3].reduce(0) { $0 << 8 | Int($1) }
            guard received.count >= 9 + length else { return }
            let (kind, flags, stream) = (received[3], received[4], Array(received[5..<9]))
            received.removeFirst(9 + length)
            if kind == 4, flags & 1 == 0 { send(frame(4, [], flags: 1), context) }
            // The eighth entry of HPACK's static table is `:status: 200`.
            if kind == 1 {
                send(frame(1, [0x88], flags: 4, stream: stream) + frame(0, Array("ok".utf8), flags: 1, stream: stream), context)
            }
        }
    }

    private func frame(_ kind: UInt8, _ payload: [UInt8], flags: UInt8 = 0, stream: [UInt8] = [0, 0, 0, 0]) -> [UInt8] {
        [0, 0, UInt8(payload.count), kind, flags] + stream + payload
    }

    private func send(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(context.channel.allocator.buffer(bytes: bytes)), promise: nil)
    }
}
