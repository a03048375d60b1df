// Runs a command as on a kernel that lacks a feature: `older-kernel landlock,mseal,seccomp,privileges COMMAND…`. Run by root, so that the
// command can still get privileges. `privileges` simulates a kernel on which a program cannot renounce new privileges, as protected programs
// find on kernels where that would remove their group.
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REFUSE(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define LOAD(what) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, what))
#define UNLESS(value, skipped) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (skipped))

int main(int count, char **words) {
    if (count < 3) return 64;
    struct sock_filter filter[] = {
        LOAD(nr),
        UNLESS(strstr(words[1], "landlock") ? 444 : -1U, 1), REFUSE(ENOSYS),
        UNLESS(strstr(words[1], "mseal") ? 462 : -1U, 1), REFUSE(ENOSYS),
        UNLESS(strstr(words[1], "seccomp") ? SYS_seccomp : -1U, 1), REFUSE(ENOSYS),
        UNLESS(strstr(words[1], "privileges") ? SYS_prctl : -1U, 3), LOAD(args[0]), UNLESS(PR_SET_NO_NEW_PRIVS, 1), REFUSE(EINVAL),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) { perror("filter"); return 64; }
    execvp(words[2], words + 2);
    perror(words[2]);
    return 127;
}
