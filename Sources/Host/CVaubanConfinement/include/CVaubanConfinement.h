/* Landlock by its system calls, which glibc does not wrap, and the filter of system calls over libseccomp. Nothing here
   decides anything: what is allowed comes as tables. Only rooms link this, so that an application needs no libseccomp. */
#ifndef CVAUBAN_CONFINEMENT_H
#define CVAUBAN_CONFINEMENT_H

#include <stdbool.h>
#include <stdint.h>

/* The newest Landlock interface that the kernel has, from 1; -errno when it has none or it is switched off. */
int vauban_landlock_version(void);

/* What may be done beneath an open folder, or with an open file: bits of LANDLOCK_ACCESS_FS_*. */
struct vauban_landlock_rule {
    int32_t descriptor;
    uint64_t rights;
};

/* Restricts this thread, and those that it starts, to the rules; what is handled and has no rule is denied. Fields that
   are newer than the kernel must be 0. 0 or -errno. */
int vauban_landlock_restrict(uint64_t files, uint64_t network, uint64_t scopes, const struct vauban_landlock_rule *rules, int count);

/* How an argument of a call is judged. */
enum vauban_comparison { VAUBAN_ANY = 0, VAUBAN_EQUAL = 1, VAUBAN_NOT_EQUAL = 2, VAUBAN_MASKED = 3 };
enum vauban_verdict { VAUBAN_ALLOW = 0, VAUBAN_KILL = 1, VAUBAN_REFUSE = 2 };

struct vauban_call_rule {
    const char *call;
    enum vauban_verdict verdict;
    enum vauban_comparison comparison;
    uint32_t argument;
    /* Of a masked comparison only. */
    uint64_t mask;
    uint64_t value;
};

/* Whether the kernel has such filters. */
bool vauban_can_filter_calls(void);

/* Filters the calls of all threads from now on. Calls without a rule answer ENOSYS, refused ones EPERM, and those of a
   foreign architecture kill. Names that this machine does not know are left out. Needs no_new_privs. 0 or -errno. */
int vauban_filter_calls(const struct vauban_call_rule *rules, int count);

/* More than any cipher or encoding of ours needs, and far less than a thread has. In bytes. */
#define VAUBAN_OVERWRITTEN_STACK 65536

/* Overwrites the stack beneath the caller's frame, where the functions that it called left what they worked on. Freed blocks
   need no call: whatever links this has an allocator that overwrites them. */
void vauban_scrub_stack(void);

#endif
