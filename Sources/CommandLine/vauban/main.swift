// The command line's own process; what it does stands in Sources/CommandLine/VaubanCommands.
import VaubanCommands

VaubanTool.run()
