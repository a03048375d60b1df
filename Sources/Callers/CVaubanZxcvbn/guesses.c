#define _GNU_SOURCE
#include "CVaubanZxcvbn.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zxcvbn.h>

enum { bytes_max = 100 };

static ssize_t read_whole(int descriptor, void *target, size_t count) {
    size_t got = 0;
    while (got < count) {
        ssize_t more = read(descriptor, (char *)target + got, count - got);
        if (more < 0 && errno == EINTR) continue;
        if (more <= 0) break;
        got += (size_t)more;
    }
    return (ssize_t)got;
}

static _Noreturn void estimate(int request, int reply, const char *const words[]) {
    char passcode[bytes_max + 1] = {0};
    read_whole(request, passcode, bytes_max);
    double bits = ZxcvbnMatch(passcode, (const char **)words, NULL);
    explicit_bzero(passcode, sizeof passcode);
    _exit(write(reply, &bits, sizeof bits) == sizeof bits ? 0 : 1);
}

double vauban_guesses_log2(const void *passcode, size_t count, const char *const words[]) {
    int request[2], reply[2];
    if (count > bytes_max) count = bytes_max;
    if (pipe2(request, O_CLOEXEC) != 0) return -1;
    if (pipe2(reply, O_CLOEXEC) != 0) {
        close(request[0]);
        close(request[1]);
        return -1;
    }
    // A pipe takes so few bytes at once, and its reading end stays open meanwhile.
    int is_sent = write(request[1], passcode, count) == (ssize_t)count;
    close(request[1]);
    pid_t child = is_sent ? fork() : -1;
    if (child == 0) estimate(request[0], reply[1], words);
    close(request[0]);
    close(reply[1]);
    double bits = -1;
    if (child > 0) {
        if (read_whole(reply[0], &bits, sizeof bits) != sizeof bits) bits = -1;
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
    }
    close(reply[0]);
    return bits;
}
