/* How Dispatch may go on asking after its own threads in a room that Landlock has shut in.

   When work has waited for a second on one of Dispatch's queues, its monitor opens /proc/TID/stat for each worker thread, and takes a
   failure for a thread that ended by itself: it ends the process with SIGILL ("workq: registered worker exited prematurely"). A rule
   of Landlock can name the files of the process's threads only as /proc/self/task/TID, so that path is denied, and whoever kept
   a room so busy that work waited for a second ended it. GRDB gives Dispatch such work with each database that is opened or closed.

   So this definition of open(2) takes the place of libc's in the rooms: what is denied as /proc/TID/stat is opened as
   /proc/self/task/TID/stat, which names threads of this process and no others. Everything else is as in libc. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int is_number(const char *text, size_t count) {
    for (size_t i = 0; i < count; i++) if (text[i] < '0' || text[i] > '9') return 0;
    return count > 0 && count <= 10;
}

int open(const char *path, int flags, ...) {
    mode_t mode = 0;
    if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE) {
        va_list arguments;
        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        va_end(arguments);
    }
    int file = openat(AT_FDCWD, path, flags, mode);
    if (file >= 0 || errno != EACCES || strncmp(path, "/proc/", 6) != 0) return file;
    const char *number = path + 6, *rest = strchr(number, '/');
    if (!rest || strcmp(rest, "/stat") != 0 || !is_number(number, (size_t)(rest - number))) { errno = EACCES; return -1; }
    char own[64];
    snprintf(own, sizeof own, "/proc/self/task/%s", number);
    file = openat(AT_FDCWD, own, flags, mode);
    if (file < 0) errno = EACCES;
    return file;
}
