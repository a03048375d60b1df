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

static int fail_to(const char *attempt, int problem) {
    fprintf(stderr, "vauban: could not %s: %s\n", attempt, strerror(problem));
    return 53;
}

/* Whether a process that can get no new privileges keeps its two groups when it starts a program; -1 if that cannot be tried. Older kernels
   make the effective group the real one then, and the command would be open. */
static int keeps_groups_without_new_privileges(void) {
    pid_t child = fork();
    if (child == 0) {
        char *words[] = {"vauban-protect", "--differs", NULL};
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) _exit(1);
        execv("/proc/self/exe", words);
        _exit(2);
    }
    int status = 1;
    if (child < 0) return -1;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return WIFEXITED(status) && WEXITSTATUS(status) < 2 ? WEXITSTATUS(status) == 0 : -1;
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
#define KEPT_MAX 64

struct choices {
    int without_new_code, allows_calls, allows_namespaces, tells_status;
    struct vauban_protection_domain domain;
    const char *kept[KEPT_MAX];
};

/* The options before `--`; the command after it, or NULL if they are wrong. */
static char **read_choices(char **words, struct choices *choices) {
    choices->domain = (struct vauban_protection_domain){.keeps_signals = 1, .keeps_system_files = 1, .kept = choices->kept};
    for (; *words && strcmp(*words, "--"); words++) {
        if (!strcmp(*words, "--without-new-code")) choices->without_new_code = 1;
        else if (!strcmp(*words, "--without-abstract-sockets")) choices->domain.keeps_abstract_sockets = 1;
        else if (!strcmp(*words, "--allow-system-calls")) choices->allows_calls = 1;
        else if (!strcmp(*words, "--allow-namespaces")) choices->allows_namespaces = 1;
        else if (!strcmp(*words, "--allow-signals")) choices->domain.keeps_signals = 0;
        else if (!strcmp(*words, "--allow-system-files")) choices->domain.keeps_system_files = 0;
        else if (!strcmp(*words, "--status")) choices->tells_status = 1;
        else if (!strcmp(*words, "--without-changing") && words[1] && choices->domain.kept_count < KEPT_MAX)
            choices->kept[choices->domain.kept_count++] = *++words;
        else
            return NULL;
    }
    return *words && (words[1] || choices->tells_status) ? words + 1 : NULL;
}

/* Finds the paths that are kept, with the user's own group. */
static int find_kept(struct choices *choices) {
    for (size_t index = 0; index < choices->domain.kept_count; index++) {
        const char *path = realpath(choices->kept[index], NULL);
        if (!path) {
            fprintf(stderr, "vauban: could not find %s: %s\n", choices->kept[index], strerror(errno));
            return 66;
        }
        choices->kept[index] = path;
    }
    return 0;
}

static FILE *status_file;

static void tell(const char *measure, const char *state) {
    if (status_file) fprintf(status_file, "%-52s%s\n", measure, state);
}

/* What the kernel has without the first protection, but not beside it, is told apart from what it does not have. */
static const char *state(int is_wanted, int is_in_kernel, int is_beside) {
    return !is_wanted ? "allowed" : !is_in_kernel ? "not in this kernel" : is_beside ? "set" : "not together with the first";
}

/* Gives up what the kernel lets it give up and nobody allowed. -1 after an error was shown. */
static int give_up(const struct choices *choices) {
    int has_no_new_privileges = keeps_groups_without_new_privileges();
    /* A kernel that could not be tried is none that lacks it. */
    if (has_no_new_privileges < 0) return fail("could not try what this kernel has: no process can be started; try again"), -1;
    if (has_no_new_privileges && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return fail_to("give up new privileges", errno), -1;
    /* Without this the kernel takes neither from a process that is not privileged. */
    int beside = has_no_new_privileges, in_kernel = vauban_protection_has_landlock(), filters_in_kernel = vauban_protection_has_filters();
    int has_landlock = beside && in_kernel, has_filters = beside && filters_in_kernel;
    const struct vauban_protection_domain *domain = &choices->domain;
    int has_domain = domain->keeps_signals || domain->keeps_system_files || domain->keeps_abstract_sockets || domain->kept_count;
    if (!has_landlock && (domain->keeps_abstract_sockets || domain->kept_count)) {
        fail("this kernel cannot keep the command from these sockets and files (Landlock version 6, since Linux 6.12, and no new privileges)");
        return -1;
    }
    int problem = has_domain && has_landlock ? vauban_protection_enter_domain(domain) : 0;
    if (problem) return fail_to("enter a domain of Landlock (vauban protect --allow-signals --allow-system-files does without)", -problem), -1;
    if (choices->without_new_code && prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) != 0)
        return fail("this kernel cannot forbid new code (PR_SET_MDWE, since Linux 6.3)"), -1;
    int filters = !choices->allows_calls || !choices->allows_namespaces;
    problem = filters && has_filters ? vauban_protection_refuse_calls(choices->allows_calls, choices->allows_namespaces) : 0;
    if (problem) return fail_to("refuse system calls (vauban protect --allow-system-calls --allow-namespaces does without)", -problem), -1;
    if (!status_file && isatty(STDERR_FILENO) && ((has_domain && !has_landlock) || (filters && !has_filters)))
        fputs("vauban: this kernel lacks some of the protections; to see which: vauban protect --status\n", stderr);
    tell("Other programs of the user cannot trace or read it", "set");
    tell("It gets no new privileges", state(1, 1, beside));
    tell("It cannot trace or read programs outside", state(has_domain, in_kernel, beside));
    tell("It sends them no signals", state(domain->keeps_signals, in_kernel, beside));
    tell("It connects to no abstract addresses of theirs", state(domain->keeps_abstract_sockets, 1, 1));
    tell("It cannot change the system's files", state(domain->keeps_system_files, in_kernel, beside));
    tell("It makes no calls of debuggers and administrators", state(!choices->allows_calls, filters_in_kernel, beside));
    tell("It makes no namespaces", state(!choices->allows_namespaces, filters_in_kernel, beside));
    tell("It runs no code that it writes", state(choices->without_new_code, 1, 1));
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
        return fail_to("set the groups, or forbid core dumps", errno);
    int problem = find_kept(&choices);
    if (problem) return problem;
    /* The output is the command's own, if there is one. */
    status_file = choices.tells_status ? *command ? stderr : stdout : NULL;
    if (give_up(&choices) != 0) return 53;
    if (!*command) return fflush(stdout) != 0;
    drop_loader_variables();
    execvp(*command, command);
    problem = errno;
    fprintf(stderr, "vauban: Could not start %s: %s\n", *command, strerror(problem));
    return problem == ENOENT ? 127 : 126;
}
