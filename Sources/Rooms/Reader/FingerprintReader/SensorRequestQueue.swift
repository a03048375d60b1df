internal import EnclaveWire
internal import Synchronization
internal import VaubanLinuxHost

/// Passes requests from the connection's thread to the sensor's.
final class SensorRequestQueue: Sendable {
    enum Order: Sendable {
        case notice(ReaderNotice)
        /// The connection has ended, and with it every request.
        case connectionLost
    }

    private let orders = Mutex<[Order]>([])
    private let wakeup: Wakeup

    init() throws(SystemError) { wakeup = try Wakeup() }

    func post(_ order: Order) {
        orders.withLock { $0.append(order) }
        wakeup.signal()
    }

    /// The number of a descriptor that is readable when something was posted.
    var number: Int32 { wakeup.descriptor.number }

    func take() -> [Order] {
        wakeup.clear()
        return orders.withLock { orders in
            defer { orders = [] }
            return orders
        }
    }
}
