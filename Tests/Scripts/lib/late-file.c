// A library for a program that adds files below devices/: just before the first one, the file LATE_FILE is put in its place, as a node of etcd
// may perform an old request after it was suspended.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int link(const char *from, const char *to) {
    static int (*real)(const char *, const char *);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "link");
    const char *late = getenv("LATE_FILE");
    if (late && strstr(to, "/devices/")) {
        if (real(late, to) != 0) _exit(97);
        unsetenv("LATE_FILE");
    }
    return real(from, to);
}
