/* vauban-protect [OPTION…] -- COMMAND…: runs a command that no other program of the same user can trace or read, from its first instruction
   on, and that can do less if it is taken over. `vauban protect` starts it (Specs/integrity.md, section 4).

   It is installed with the set-group-ID bit and a group that owns nothing. The command runs with that group as its real group, and the
   user's own as its effective one: files that it makes and its rights are as usual. But the kernel lets a process trace another, or read its
   memory and descriptors, only if all of the other's groups are one of its own, which no program of the user can have; and it starts a
   program whose real and effective groups differ without dumps, and tells the loader not to trust its environment (AT_SECURE). Nothing
   here reads a file or the environment, except to remove from it. */
#define _GNU_SOURCE
#include "CVaubanProtection.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

extern char **environ;

static int fail(const char *why) {
    fprintf(stderr, "vauban: %s\n", why);
    return 53;
}

/* What the loader takes from the environment. It ignores this for the command itself, and programs that the command starts must not find it
   either. */
static void drop_loader_variables(void) {
    static const char *const prefixes[] = {"LD_", "GLIBC_TUNABLES=", "GCONV_PATH=", "LOCPATH=", "MALLOC_"};
    char **kept = environ;
    for (char **variable = environ; *variable; variable++) {
        int dropped = 0;
        for (size_t index = 0; index < sizeof prefixes / sizeof *prefixes; index++)
            if (!strncmp(*variable, prefixes[index], strlen(prefixes[index]))) dropped = 1;
        if (!dropped) *kept++ = *variable;
    }
    *kept = NULL;
}

/* Whether a process that can get no new privileges keeps its two groups when it starts a program. Older kernels make the effective group
   the real one then, and the command would be open. */
static int keeps_groups_without_new_privileges(void) {
    pid_t child = fork();
    if (child == 0) {
        char *words[] = {"vauban-protect", "--differs", NULL};
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) execv("/proc/self/exe", words);
        _exit(1);
    }
    int status = 1;
    if (child < 0) return 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return 0;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* fs.suid_dumpable=1 lets programs of this kind be dumped and traced after all. */
static int can_be_dumped(void) {
    char value = 0;
    FILE *file = fopen("/proc/sys/fs/suid_dumpable", "re");
    if (!file) return 1;
    if (fread(&value, 1, 1, file) != 1) value = '1';
    fclose(file);
    return value == '1';
}

/* What the command gives up besides. Without an option, what hardly any program needs. */
struct choices {
    int without_new_code, allows_calls, allows_namespaces, tells_status;
    struct vauban_protection_domain domain;
};

#define KEPT_MAX 64

/* The options before `--`; the command after it, or NULL if they are wrong. */
static char **read_choices(char **words, struct choices *choices) {
    static const char *kept[KEPT_MAX];
    choices->domain = (struct vauban_protection_domain){.keeps_signals = 1, .keeps_system_files = 1, .kept = kept};
    for (; *words && strcmp(*words, "--"); words++) {
        if (!strcmp(*words, "--without-new-code")) choices->without_new_code = 1;
        else if (!strcmp(*words, "--without-abstract-sockets")) choices->domain.keeps_abstract_sockets = 1;
        else if (!strcmp(*words, "--allow-system-calls")) choices->allows_calls = 1;
        else if (!strcmp(*words, "--allow-namespaces")) choices->allows_namespaces = 1;
        else if (!strcmp(*words, "--allow-signals")) choices->domain.keeps_signals = 0;
        else if (!strcmp(*words, "--allow-system-files")) choices->domain.keeps_system_files = 0;
        else if (!strcmp(*words, "--status")) choices->tells_status = 1;
        else if (!strcmp(*words, "--without-changing") && words[1] && choices->domain.kept_count < KEPT_MAX) {
            char *path = realpath(*++words, NULL);
            if (!path) {
                fprintf(stderr, "vauban: could not find %s: %s\n", *words, strerror(errno));
                exit(66);
            }
            kept[choices->domain.kept_count++] = path;
        } else
            return NULL;
    }
    return *words && (words[1] || choices->tells_status) ? words + 1 : NULL;
}

static FILE *status_file;

static void tell(const char *measure, const char *state) {
    if (status_file) fprintf(status_file, "%-52s%s\n", measure, state);
}

static const char *state(int is_wanted, int is_there, const char *otherwise) {
    return !is_wanted ? otherwise : is_there ? "set" : "not in this kernel";
}

/* Gives up what the kernel lets it give up and nobody allowed. -1 after an error was shown. */
static int give_up(const struct choices *choices) {
    int has_no_new_privileges = keeps_groups_without_new_privileges();
    if (has_no_new_privileges && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return fail(strerror(errno)), -1;
    /* Without this the kernel takes neither from a process that is not privileged. */
    int has_landlock = has_no_new_privileges && vauban_protection_has_landlock();
    int has_filters = has_no_new_privileges && vauban_protection_has_filters();
    const struct vauban_protection_domain *domain = &choices->domain;
    int has_domain = domain->keeps_signals || domain->keeps_system_files || domain->keeps_abstract_sockets || domain->kept_count;
    if (!has_landlock && (domain->keeps_abstract_sockets || domain->kept_count)) {
        fail("this kernel cannot keep the command from these sockets and files (Landlock version 6, since Linux 6.12, and no new privileges)");
        return -1;
    }
    int problem = has_domain && has_landlock ? vauban_protection_enter_domain(domain) : 0;
    if (problem) return fail(strerror(-problem)), -1;
    if (choices->without_new_code && prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) != 0)
        return fail("this kernel cannot forbid new code (PR_SET_MDWE, since Linux 6.3)"), -1;
    int filters = !choices->allows_calls || !choices->allows_namespaces;
    problem = filters && has_filters ? vauban_protection_refuse_calls(choices->allows_calls, choices->allows_namespaces) : 0;
    if (problem) return fail(strerror(-problem)), -1;
    tell("Other programs of the user cannot trace or read it", "set");
    tell("It gets no new privileges", state(1, has_no_new_privileges, ""));
    tell("It cannot trace or read programs outside", state(has_domain, has_landlock, "allowed"));
    tell("It sends them no signals", state(domain->keeps_signals, has_landlock, "allowed"));
    tell("It connects to no abstract addresses of theirs", state(domain->keeps_abstract_sockets, 1, "allowed"));
    tell("It cannot change the system's files", state(domain->keeps_system_files, has_landlock, "allowed"));
    tell("It makes no calls of debuggers and administrators", state(!choices->allows_calls, has_filters, "allowed"));
    tell("It makes no namespaces", state(!choices->allows_namespaces, has_filters, "allowed"));
    tell("It runs no code that it writes", state(choices->without_new_code, 1, "allowed"));
    tell("It cannot change the code that is mapped (mseal)",
         vauban_protection_has_sealing() ? "only by itself (ProcessProtection)" : "not in this kernel");
    return 0;
}

int main(int count, char **words) {
    gid_t real = getgid(), effective = getegid();
    if (count == 2 && !strcmp(words[1], "--differs")) return real == effective;
    struct choices choices = {0};
    /* Older kernels execute a program without any arguments; `words + 1` would then point beyond their end. */
    char **command = count < 2 ? NULL : read_choices(words + 1, &choices);
    if (!command) {
        fputs("usage: vauban-protect [--without-new-code] [--without-abstract-sockets] [--without-changing PATH]… [--allow-system-calls]\n"
              "                      [--allow-namespaces] [--allow-signals] [--allow-system-files] [--status] -- COMMAND…\n", stderr);
        return 64;
    }
    if (getuid() != geteuid() || real == effective)
        return fail("the command cannot be protected: the kernel ignores the group of vauban-protect. It does if a debugger traces this "
                    "program, if this process can get no new privileges, and where a file system is mounted nosuid");
    if (can_be_dumped()) return fail("the command cannot be protected, because fs.suid_dumpable is 1; as root: sysctl fs.suid_dumpable=0");
    struct rlimit none = {0, 0};
    if (setresgid(effective, real, real) != 0 || setrlimit(RLIMIT_CORE, &none) != 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
        return fail(strerror(errno));
    /* The output is the command's own, if there is one. */
    status_file = choices.tells_status ? *command ? stderr : stdout : NULL;
    if (give_up(&choices) != 0) return 53;
    if (!*command) return fflush(stdout) != 0;
    drop_loader_variables();
    execvp(*command, command);
    int problem = errno;
    fprintf(stderr, "vauban: could not start %s: %s\n", *command, strerror(problem));
    return problem == ENOENT ? 127 : 126;
}
