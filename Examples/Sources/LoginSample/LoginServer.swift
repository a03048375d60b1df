import Foundation
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A server to sign in to over HTTPS.
final class LoginServer: NSObject, URLSessionTaskDelegate, Sendable {
    enum Answer: Sendable {
        case accepted
        /// The username, the password or the token is wrong.
        case rejected
        /// The server was not reached, its identity is wrong, or it cannot decide. Nothing must be deleted in this case.
        case unknown(String)
    }

    private struct Message: Encodable {
        let username: String
        let password: String
        let token: String
    }

    private let address: URL
    private static let timeoutSeconds = 30.0

    /// - Parameter address: An `https://` address; nil for any other.
    init?(_ address: String) {
        guard let url = URL(string: address), url.scheme?.lowercased() == "https", url.host != nil else { return nil }
        self.address = url
    }

    /// Sends the credentials, and calls `answer` on a private queue.
    func signIn(as username: String, password: String, token: String, answer: @escaping @Sendable (Answer) -> Void) {
        var request = URLRequest(url: address, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: Self.timeoutSeconds)
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        do { request.httpBody = try JSONEncoder().encode(Message(username: username, password: password, token: token)) } catch {
            return answer(.unknown("\(error)"))
        }
        let session = URLSession(configuration: .ephemeral, delegate: self, delegateQueue: nil)
        session.dataTask(with: request) { _, response, error in
            switch (response as? HTTPURLResponse)?.statusCode {
            case nil: answer(.unknown(error?.localizedDescription ?? "no answer"))
            case 200?: answer(.accepted)
            case 401?, 403?: answer(.rejected)
            case let status?: answer(.unknown("the server answered \(status)"))
            }
        }.resume()
        session.finishTasksAndInvalidate()
    }

    /// Redirects are not followed: credentials go only to the address that the user chose.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) { completionHandler(nil) }
}
