import ArgumentParser

// First of all, while there is one thread: from here on a signal finds the terminal's mode put right.
Interruption.begin()
CommandEnd.run(VaubanCommand.self)
