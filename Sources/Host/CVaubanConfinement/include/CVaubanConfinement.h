/* Landlock's system calls, which glibc does not wrap, and the system call filter, over libseccomp. This module makes no decisions: callers
   pass tables of what is allowed. Only rooms link it, so that applications need no libseccomp. */
#ifndef CVAUBAN_CONFINEMENT_H
#define CVAUBAN_CONFINEMENT_H

#include <stdbool.h>
#include <stdint.h>

/* Returns the newest Landlock version that the kernel supports, from 1; -errno if it has none or Landlock is disabled. */
int vauban_landlock_version(void);

/* The rights below an open folder, or on an open file: bits of LANDLOCK_ACCESS_FS_*. */
struct vauban_landlock_rule {
    int32_t descriptor;
    uint64_t rights;
};

/* Restricts this thread, and those that it starts, to the rules; handled rights without a rule are denied. TCP may be
   connected to the ports, if connecting is handled (version 4). Fields that are newer than the kernel must be 0. 0 or -errno. */
int vauban_landlock_restrict(uint64_t files, uint64_t network, uint64_t scopes, const struct vauban_landlock_rule *rules, int count,
                             const uint16_t *ports, int port_count);

/* How an argument of a call is compared. */
enum vauban_comparison { VAUBAN_ANY = 0, VAUBAN_EQUAL = 1, VAUBAN_NOT_EQUAL = 2, VAUBAN_MASKED = 3 };
enum vauban_verdict { VAUBAN_ALLOW = 0, VAUBAN_KILL = 1, VAUBAN_REFUSE = 2 };

struct vauban_call_rule {
    const char *call;
    enum vauban_verdict verdict;
    enum vauban_comparison comparison;
    uint32_t argument;
    /* For a masked comparison only. */
    uint64_t mask;
    uint64_t value;
};

/* Returns whether the kernel has such filters. */
bool vauban_can_filter_calls(void);

/* Filters the calls of all threads from now on. Calls without a rule return ENOSYS, refused ones EPERM, and those of a foreign architecture
   kill the process. Call names that this machine does not have are omitted. Requires no_new_privs. Returns 0 or -errno. */
int vauban_filter_calls(const struct vauban_call_rule *rules, int count);

/* More than any cipher or encoding of Vauban uses, and far less than a thread's stack. In bytes. */
#define VAUBAN_OVERWRITTEN_STACK 65536

/* Overwrites the stack below the caller's frame, where the functions that it called left their data, and the vector registers. Freed blocks
   need no such call, since linking this module replaces the allocator with one that overwrites them. */
void vauban_scrub_stack(void);

#endif
