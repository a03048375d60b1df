#define _GNU_SOURCE
#include "CVaubanLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Between fork and exec only async-signal-safe calls are allowed, since the parent may have threads. So everything that needs memory is
   prepared before the fork, and the child's process number, which is unknown before, is written digit by digit. */
static void write_decimal(char *target, unsigned value) {
    char reversed[12];
    int count = 0;
    do { reversed[count++] = (char)('0' + value % 10); value /= 10; } while (value);
    while (count) *target++ = reversed[--count];
    *target = 0;
}

static void restore_signals(void) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (int number = 1; number < 32; number++)
        if (number != SIGKILL && number != SIGSTOP) signal(number, SIG_DFL);
}

/* `null` becomes the standard streams, unless it is -1. */
static pid_t spawn(const char *path, char *const argv[], const int *descriptors, int count, const char *names, int null, int end) {
    char listen_fds[32], listen_pid[32] = "LISTEN_PID=";
    size_t names_length = strlen(names) + sizeof "LISTEN_FDNAMES=";
    char *listen_names = malloc(names_length);
    int *moved = malloc(sizeof(int) * (size_t)(count ? count : 1));
    if (!listen_names || !moved) { free(listen_names); free(moved); return -ENOMEM; }
    snprintf(listen_fds, sizeof listen_fds, "LISTEN_FDS=%d", count);
    snprintf(listen_names, names_length, "LISTEN_FDNAMES=%s", names);
    char *const environment[] = {listen_fds, listen_pid, listen_names, NULL};
    pid_t parent = getpid();
    pid_t child = fork();
    if (child == 0) {
        write_decimal(listen_pid + 11, (unsigned)getpid());
        restore_signals();
        prctl(PR_SET_PDEATHSIG, end, 0, 0, 0);
        if (getppid() != parent) _exit(126);
        /* Moves the descriptors above the target numbers first, so that none is overwritten before it is duplicated. */
        for (int index = 0; index < count; index++) {
            moved[index] = fcntl(descriptors[index], F_DUPFD, 64);
            if (moved[index] < 0) _exit(126);
        }
        if (null >= 0) {
            int streams = fcntl(null, F_DUPFD, 64);
            if (streams < 0 || dup2(streams, 0) < 0 || dup2(streams, 1) < 0 || dup2(streams, 2) < 0) _exit(126);
        }
        for (int index = 0; index < count; index++)
            if (dup2(moved[index], 3 + index) < 0) _exit(126);
        close_range((unsigned)(3 + count), ~0U, 0);
        execve(path, argv, environment);
        _exit(127);
    }
    int problem = child < 0 ? -errno : 0;
    free(listen_names);
    free(moved);
    return problem ? problem : child;
}

pid_t vauban_spawn_room(const char *path, char *const argv[], const int *descriptors, int count, const char *names) {
    return spawn(path, argv, descriptors, count, names, -1, SIGTERM);
}

pid_t vauban_spawn_helper(const char *path, char *const argv[], const int *descriptors, int count, const char *names) {
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0) return -errno;
    pid_t child = spawn(path, argv, descriptors, count, names, null, SIGKILL);
    close(null);
    return child;
}

pid_t vauban_spawn_on_terminal(char *const argv[], int slave) {
    pid_t child = fork();
    if (child == 0) {
        restore_signals();
        setsid();
        if (ioctl(slave, TIOCSCTTY, 0) != 0) _exit(126);
        if (dup2(slave, 0) < 0 || dup2(slave, 1) < 0 || dup2(slave, 2) < 0) _exit(126);
        close_range(3, ~0U, 0);
        execvp(argv[0], argv);
        _exit(127);
    }
    return child < 0 ? -errno : child;
}

int vauban_spawn_detached(const char *path, char *const argv[], char *const envp[], int notify_fd) {
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0) return -errno;
    pid_t child = fork();
    if (child == 0) {
        restore_signals();
        setsid();
        /* The second fork makes the program no child of the caller, which then gets no SIGCHLD and no zombie. */
        if (fork() != 0) _exit(0);
        dup2(null, 0);
        dup2(null, 1);
        dup2(null, 2);
        if (notify_fd >= 0) {
            int moved = fcntl(notify_fd, F_DUPFD, 64);
            if (moved < 0 || dup2(moved, 3) < 0) _exit(126);
            close_range(4, ~0U, 0);
        } else {
            close_range(3, ~0U, 0);
        }
        execve(path, argv, envp ? envp : environ);
        _exit(127);
    }
    int problem = child < 0 ? -errno : 0;
    close(null);
    if (!problem) while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
    return problem;
}

int vauban_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC) < 0 ? -errno : 0; }
