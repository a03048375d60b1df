import Glibc
internal import VaubanKeychainClient
internal import VaubanLinuxHost
internal import VaubanRefusal
internal import VaubanSecretText

/// The program vauban-browser-host. A browser starts it for Vauban's extension, by the manifests of `vauban enable browser`.
package enum BrowserHostProgram {
    package static func main() -> Never {
        signal(SIGPIPE, SIG_IGN)
        do {
            // Passwords pass through this process.
            try ProcessHardening.hide()
            let service = try Service.current()
            let browser = try BrowserCaller(arguments: Array(CommandLine.arguments.dropFirst()), mode: service.mode)
            let loop = BrowserLoop(BrowserRequestHandler(browser, service), output: STDOUT_FILENO)
            do throws(NativeMessageError) { try loop.run(input: STDIN_FILENO) } catch {
                loop.end(error)
                printToStandardError(error.description)
                exit(65)
            }
            exit(0)
        } catch let refusal as Refusal {
            end(refusal)
        } catch {
            end(Refusal(.unavailable, (error as? SystemError)?.sentence ?? "\(error)"))
        }
    }

    /// Reports why no request is served, to the extension, which shows the reason, and in the browser's log. Then ends the process.
    private static func end(_ refusal: Refusal) -> Never {
        _ = NativeMessages.write(BrowserRequestHandler.refusal(nil, refusal).secret, to: STDOUT_FILENO)
        printToStandardError(refusal.message)
        exit(53)
    }

    private static func printToStandardError(_ sentence: String) {
        let line = "vauban-browser-host: \(sentence)\n"
        _ = line.withCString { write(STDERR_FILENO, $0, strlen($0)) }
    }
}
