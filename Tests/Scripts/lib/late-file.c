// A library in whose program the file LATE_FILE is put in the place of the first file that is to be added below devices/, just before: as a node of etcd that stood still
// may do what it was asked for long ago.
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
