/* vauban-protect [--without-new-code] -- COMMAND…: runs a command that no other program of the same user can trace or read, from its first
   instruction on. `vauban protect` starts it (Specs/integrity.md, section 4).

   It is installed with the set-group-ID bit and a group that owns nothing. The command runs with that group as its real group, and the
   user's own as its effective one: files that it makes and its rights are as usual. But the kernel lets a process trace another, or read its
   memory and descriptors, only if all of the other's groups are one of its own, which no program of the user can have; and it starts a
   program whose real and effective groups differ without dumps, and tells the loader not to trust its environment (AT_SECURE). Nothing
   here reads a file or the environment, except to remove from it. */
#define _GNU_SOURCE
#include <errno.h>
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

int main(int count, char **words) {
    gid_t real = getgid(), effective = getegid();
    if (count == 2 && !strcmp(words[1], "--differs")) return real == effective;
    int without_new_code = count > 1 && !strcmp(words[1], "--without-new-code");
    char **command = words + 1 + without_new_code;
    // Older kernels execute a program without any arguments; `command` would then point beyond their end.
    if (count < 2 || !*command || strcmp(*command++, "--") || !*command) {
        fputs("usage: vauban-protect [--without-new-code] -- COMMAND…\n", stderr);
        return 64;
    }
    if (getuid() != geteuid() || real == effective)
        return fail("the command cannot be protected: the kernel ignores the group of vauban-protect. It does if a debugger traces this "
                    "program, if this process can get no new privileges, and where a file system is mounted nosuid");
    if (can_be_dumped()) return fail("the command cannot be protected, because fs.suid_dumpable is 1; as root: sysctl fs.suid_dumpable=0");
    struct rlimit none = {0, 0};
    if (setresgid(effective, real, real) != 0 || setrlimit(RLIMIT_CORE, &none) != 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
        return fail(strerror(errno));
    if (keeps_groups_without_new_privileges() && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return fail(strerror(errno));
    if (without_new_code && prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) != 0)
        return fail("this kernel cannot forbid new code (PR_SET_MDWE, since Linux 6.3)");
    drop_loader_variables();
    execvp(*command, command);
    int problem = errno;
    fprintf(stderr, "vauban: could not start %s: %s\n", *command, strerror(problem));
    return problem == ENOENT ? 127 : 126;
}
