/* What the probe does that Swift cannot: raw system calls by name, fork, ptrace. For tests only. */
#ifndef CVAUBAN_PROBE_H
#define CVAUBAN_PROBE_H

#include <stdint.h>
#include <sys/types.h>

/* Makes the call of this name as it is, past glibc: its result or -errno; -ENOENT * 1000 when there is no such name here. */
long vauban_probe_call(const char *name, const long arguments[6]);
/* fork: 0 in the child. */
pid_t vauban_probe_fork(void);
/* Waits for the child: its exit status, or 1000 and the signal that killed it. */
int vauban_probe_wait(pid_t child);
/* Runs a command with this process as its tracer; its exit status, or 1000 and the signal that killed it. */
int vauban_probe_trace(char *const argv[]);

/* Attempts on another process: 0 when it could be done, -errno when not. */
int vauban_probe_attach(pid_t pid);
int vauban_probe_read_memory(pid_t pid, uint64_t address);
int vauban_probe_copy_memory(pid_t pid, uint64_t address);
int vauban_probe_take_descriptor(pid_t pid);
/* With perf_event_open, as tracing tools do: samples of where the process executes, and a breakpoint in it. */
int vauban_probe_sample(pid_t pid);
int vauban_probe_break(pid_t pid, uint64_t address);

/* Makes the page of this program's own code writable: 0, or -errno when that is refused. */
int vauban_probe_open_code(void);

/* A stream connection to a TCP port of this machine, and to an abstract Unix address: 0 or -errno. */
int vauban_probe_dial_network(void);
int vauban_probe_dial_abstract(const char *name);

/* Returns 1 if one of the vector registers that the caller left holds these 16 bytes, otherwise 0. */
int vauban_probe_registers_hold(const void *bytes);

#endif
