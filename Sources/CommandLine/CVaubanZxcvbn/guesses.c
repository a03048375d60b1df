#define _GNU_SOURCE
#include "CVaubanZxcvbn.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zxcvbn.h>

enum { judged_max = 100 };

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

static _Noreturn void judge(int question, int answer, const char *const words[]) {
    char passcode[judged_max + 1] = {0};
    read_whole(question, passcode, judged_max);
    double bits = ZxcvbnMatch(passcode, (const char **)words, NULL);
    explicit_bzero(passcode, sizeof passcode);
    _exit(write(answer, &bits, sizeof bits) == sizeof bits ? 0 : 1);
}

double vauban_guesses_log2(const void *passcode, size_t count, const char *const words[]) {
    int question[2], answer[2];
    if (count > judged_max) count = judged_max;
    if (pipe2(question, O_CLOEXEC) != 0) return -1;
    if (pipe2(answer, O_CLOEXEC) != 0) {
        close(question[0]);
        close(question[1]);
        return -1;
    }
    // A pipe takes so few bytes at once, and its reading end stays open meanwhile.
    int is_asked = write(question[1], passcode, count) == (ssize_t)count;
    close(question[1]);
    pid_t child = is_asked ? fork() : -1;
    if (child == 0) judge(question[0], answer[1], words);
    close(question[0]);
    close(answer[1]);
    double bits = -1;
    if (child > 0) {
        if (read_whole(answer[0], &bits, sizeof bits) != sizeof bits) bits = -1;
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
    }
    close(answer[0]);
    return bits;
}
