/* What a program can give up to limit an attacker who takes it over: system calls, access to other processes and to the system's files, and
   changes of its own code. Uses the C library and Linux's own interfaces only, since vauban-protect is built from it too. Nothing here can
   be undone, and everything except sealed code is inherited by the programs that the process starts. */
#ifndef CVAUBAN_PROTECTION_H
#define CVAUBAN_PROTECTION_H

#include <stdbool.h>
#include <stddef.h>

/* The Landlock version from which signals can be restricted (Linux 6.12). Older versions are not used. */
#define VAUBAN_PROTECTION_LANDLOCK 6

/* Returns whether the kernel supports filters of system calls. */
bool vauban_protection_has_filters(void);

/* Returns whether Landlock is enabled in a version that is used here. */
bool vauban_protection_has_landlock(void);

/* Returns whether the kernel can forbid new code (PR_SET_MDWE, Linux 6.3). */
bool vauban_protection_can_forbid_new_code(void);

/* Returns whether the kernel has mseal (Linux 6.10, on 64-bit processors). */
bool vauban_protection_has_sealing(void);

/* Refuses system calls in all threads of this process (EPERM), which must not be able to get new privileges: those that read or enter other
   processes or limit them, load code into the kernel, start another kernel, mount, type into the terminal, or open this process's memory as
   a file, unless `allows_calls`; and new namespaces, unless `allows_namespaces`. Calls of another architecture of the machine end the process. 0 or -errno. */
int vauban_protection_refuse_calls(bool allows_calls, bool allows_namespaces);

/* The restrictions of a Landlock domain. Any of them, and the domain itself, keeps the process from tracing and reading processes outside.
   */
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

/* Seals the code and constants of the executable and its libraries: what is mapped now and not writable. The mappings then stay as they
   are. 0 or -errno: -ENOSYS if the kernel has no mseal. */
int vauban_protection_seal_code(void);

#endif
