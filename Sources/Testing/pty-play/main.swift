import Foundation
import Glibc

do {
    let play = try Play(arguments: Array(CommandLine.arguments.dropFirst()))
    exit(try play.run())
} catch {
    FileHandle.standardError.write(Data("pty-play: \(error)\n".utf8))
    exit(Play.failed)
}
