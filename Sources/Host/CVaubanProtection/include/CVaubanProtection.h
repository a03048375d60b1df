/* What a program gives up so that whoever takes it over can do less: system calls, other processes, the system's files, changes of its own
   code. The C library alone, since vauban-protect is built from it too, and Linux's own interfaces. Nothing here can be taken back, and all
   of it passes to programs that the process starts, but for sealed code. */
#ifndef CVAUBAN_PROTECTION_H
#define CVAUBAN_PROTECTION_H

#include <stdbool.h>
#include <stddef.h>

/* The Landlock interface from which signals can be kept inside (Linux 6.12). Older ones are not used. */
#define VAUBAN_PROTECTION_LANDLOCK 6

/* Whether the kernel has filters of system calls. */
bool vauban_protection_has_filters(void);

/* Whether it has Landlock in a version that is used here, and it is switched on. */
bool vauban_protection_has_landlock(void);

/* Whether it can forbid new code (PR_SET_MDWE, Linux 6.3). */
bool vauban_protection_can_forbid_new_code(void);

/* Whether it has mseal (Linux 6.10, on 64-bit processors). */
bool vauban_protection_has_sealing(void);

/* Refuses system calls in all threads of this process (EPERM), which must not be able to get new privileges: those that read or enter other
   processes or limit them, load code into the kernel, start another kernel, mount, type into the terminal, or open this process's memory as
   a file, unless `allows_calls`; and new namespaces, unless `allows_namespaces`. Calls of another architecture of the machine end the process. 0 or -errno. */
int vauban_protection_refuse_calls(bool allows_calls, bool allows_namespaces);

/* What a Landlock domain keeps inside. Each of them, and the domain itself, keeps the process from tracing and reading others. */
struct vauban_protection_domain {
    bool keeps_signals;          /* no signal reaches a process outside, and no control group is changed */
    bool keeps_abstract_sockets; /* nor a connection to an abstract address there; X11's clients may use one */
    bool keeps_system_files;     /* programs, libraries, settings and boot files of the system keep their content, the kernel its settings, and
                                    no devices are made */
    const char *const *kept;     /* so does what is at and below these absolute paths without links; in folders above them nothing can be made */
    size_t kept_count;
};

/* Restricts this thread and those that it starts. 0 or -errno. */
int vauban_protection_enter_domain(const struct vauban_protection_domain *domain);

/* Seals what is mapped now of the executable and its libraries and is not writable: code and constants. It stays mapped as it is. 0, or
   -errno: -ENOSYS if the kernel has no mseal. */
int vauban_protection_seal_code(void);

#endif
