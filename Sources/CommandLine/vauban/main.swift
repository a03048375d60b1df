// The process of the command line; the implementation is in Sources/CommandLine/VaubanCommands.
import VaubanCommands

VaubanTool.run()
