// Shared by the hostile programs of the attack tests: the messages of a socket, encoded here by hand (Specs/connections.md, keychain-wire.md),
// so that a program can break each rule. Nothing here is code of Vauban.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void fail(const char *what) { perror(what); exit(64); }
static void say(const char *text) { printf("%s\n", text); fflush(stdout); }

// Bytes that are built from the end to the front, so that each length is known when it is encoded.
struct der { uint8_t bytes[4096]; size_t start; };
static void der_begin(struct der *d) { d->start = sizeof d->bytes; }
static size_t der_size(struct der *d) { return sizeof d->bytes - d->start; }
static void der_raw(struct der *d, const void *bytes, size_t count) { d->start -= count; memcpy(d->bytes + d->start, bytes, count); }
static void der_byte(struct der *d, uint8_t byte) { der_raw(d, &byte, 1); }
// Writes tag and length before what was written since `mark`.
static void der_wrap(struct der *d, uint8_t tag, size_t mark) {
    size_t count = der_size(d) - mark;
    if (count > 255) { der_byte(d, count & 255); der_byte(d, count >> 8); der_byte(d, 0x82); }
    else if (count > 127) { der_byte(d, count); der_byte(d, 0x81); }
    else der_byte(d, count);
    der_byte(d, tag);
}
static void der_field(struct der *d, uint8_t tag, const void *bytes, size_t count) {
    size_t mark = der_size(d);
    der_raw(d, bytes, count);
    der_wrap(d, tag, mark);
}
static void der_number(struct der *d, uint8_t number) { der_field(d, 0x02, &number, 1); }

// Each message carries the credentials of a process, which the sender can choose within limits.
static int connect_to(const char *path) {
    int connection = socket(AF_UNIX, SOCK_STREAM, 0), on = 1;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    if (connection < 0 || setsockopt(connection, SOL_SOCKET, SO_PASSCRED, &on, sizeof on)) fail("socket");
    // Longer than a loaded machine halts.
    struct timeval time = {.tv_sec = 60};
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
    if (connect(connection, (struct sockaddr *)&address, sizeof address)) { printf("unreachable %d\n", errno); exit(1); }
    return connection;
}

// Sends one message, with one descriptor unless it is -1, and with forged credentials if `as` is not 0.
static int send_message(int connection, struct der *d, int descriptor, pid_t as) {
    uint8_t front[8] = {0, 0, der_size(d) >> 8, der_size(d) & 255, 0, 0, 0, 0};
    struct iovec parts[2] = {{front, 8}, {d->bytes + d->start, der_size(d)}};
    _Alignas(struct cmsghdr) uint8_t control[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))] = {0};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *one = CMSG_FIRSTHDR(&message);
    size_t used = 0;
    if (descriptor >= 0) {
        one->cmsg_level = SOL_SOCKET; one->cmsg_type = SCM_RIGHTS; one->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(one), &descriptor, sizeof descriptor);
        used += CMSG_SPACE(sizeof(int));
        one = (struct cmsghdr *)(control + used);
    }
    if (as) {
        struct ucred credentials = {.pid = as, .uid = getuid(), .gid = getgid()};
        one->cmsg_level = SOL_SOCKET; one->cmsg_type = SCM_CREDENTIALS; one->cmsg_len = CMSG_LEN(sizeof credentials);
        memcpy(CMSG_DATA(one), &credentials, sizeof credentials);
        used += CMSG_SPACE(sizeof credentials);
    }
    message.msg_controllen = used;
    if (!used) message.msg_control = NULL;
    return sendmsg(connection, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

struct message { uint8_t header[65536]; size_t header_size; uint8_t secret[65536]; size_t secret_size; int descriptor; };

static int read_all(int connection, uint8_t *to, size_t count, int *descriptor) {
    while (count) {
        _Alignas(struct cmsghdr) uint8_t control[256];
        struct iovec part = {to, count};
        struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
        ssize_t got = recvmsg(connection, &message, MSG_CMSG_CLOEXEC);
        if (got <= 0) return -1;
        for (struct cmsghdr *one = CMSG_FIRSTHDR(&message); one; one = CMSG_NXTHDR(&message, one))
            if (one->cmsg_level == SOL_SOCKET && one->cmsg_type == SCM_RIGHTS) memcpy(descriptor, CMSG_DATA(one), sizeof(int));
        to += got; count -= got;
    }
    return 0;
}

// Returns 0, or -1 if the connection ended.
static int receive_message(int connection, struct message *m) {
    uint8_t front[8];
    m->descriptor = -1;
    if (read_all(connection, front, 8, &m->descriptor)) return -1;
    m->header_size = front[2] << 8 | front[3];
    m->secret_size = front[5] << 16 | front[6] << 8 | front[7];
    if (front[0] || front[1] || m->secret_size > sizeof m->secret) return -1;
    return read_all(connection, m->header, m->header_size, &m->descriptor) || read_all(connection, m->secret, m->secret_size, &m->descriptor) ? -1 : 0;
}

// Greeting ::= SEQUENCE { version, nonce, role }, answering a Hello, with the descriptor of a process.
static int greet(int connection, const struct message *hello, uint8_t role, pid_t process, pid_t as) {
    struct der d;
    der_begin(&d);
    der_number(&d, role);
    der_field(&d, 0x04, hello->header + hello->header_size - 16, 16);
    der_number(&d, 1);
    der_wrap(&d, 0x30, 0);
    int descriptor = process ? (int)syscall(SYS_pidfd_open, process, 0) : -1;
    int problem = send_message(connection, &d, descriptor, as);
    if (descriptor >= 0) close(descriptor);
    return problem;
}

static int introduce(const char *path, uint8_t role) {
    static struct message hello;
    int connection = connect_to(path);
    if (receive_message(connection, &hello)) { say("closed before a word"); exit(1); }
    if (greet(connection, &hello, role, getpid(), 0)) { say("closed at the greeting"); exit(1); }
    return connection;
}

// copyMatching of one generic password of the service `callers`, by account, with its value.
static void ask_for(struct der *d, const char *account) {
    const char *names[2] = {"svce", "acct"}, *values[2] = {"callers", account};
    der_begin(d);
    der_number(d, 0); der_number(d, 1); der_number(d, 1);
    size_t list = der_size(d);
    for (int index = 0; index < 2; index++) {
        size_t pair = der_size(d), value = der_size(d);
        der_field(d, 0x0C, values[index], strlen(values[index]));
        der_wrap(d, 0xA0, value);
        der_field(d, 0x0C, names[index], 4);
        der_wrap(d, 0x30, pair);
    }
    der_wrap(d, 0x30, list);
    der_number(d, 1);
    der_wrap(d, 0x30, 0);
    der_wrap(d, 0xA1, 0);
    der_number(d, 1);
    der_wrap(d, 0x30, 0);
}

// Reads what follows the reason in a refusal: SEQUENCE { INTEGER, [0] { UTF8String } … }. `byte` points to the value of the reason.
static void print_detail(const struct message *reply, const uint8_t *byte) {
    const uint8_t *end = reply->header + reply->header_size, *at = byte + 1;
    // [0], its length of one to three bytes, then the text's tag and length.
    if (end - at < 4 || at[0] != 0xA0) return;
    at += 2 + (at[1] & 0x80 ? at[1] & 0x7F : 0);
    if (end - at < 2 || at[0] != 0x0C) return;
    size_t count = at[1];
    at += 2;
    if (count == 0x81) count = *at++;
    if (count <= (size_t)(end - at)) printf(": %.*s", (int)count, at);
}

// Prints the outcome of a request: `value TEXT`, `nothing`, `refused N`, `closed`, or, if the bytes themselves were refused,
// `refused 1: REASON; closed` or `…; open`, depending on the connection.
static void tell_answer(int connection) {
    static struct message reply, more;
    while (1) {
        if (receive_message(connection, &reply)) { say("closed"); return; }
        // SEQUENCE { INTEGER 1, [n] … }, whose length takes one to three bytes.
        const uint8_t *at = reply.header + 2;
        if (reply.header[1] & 0x80) at += reply.header[1] & 0x7F;
        at += 3;
        if (*at == 0xA3) continue;
        if (*at == 0xA2) { printf("value %.*s\n", (int)reply.secret_size, reply.secret); fflush(stdout); return; }
        if (*at == 0xA1) { say("nothing"); return; }
        // The first INTEGER in a refusal is its reason.
        for (const uint8_t *byte = at + 1; byte + 2 < reply.header + reply.header_size; byte++) {
            if (byte[0] != 0x02 || byte[1] != 1) continue;
            printf("refused %d", byte[2]);
            if (byte[2] == 1) {
                print_detail(&reply, byte + 2);
                struct pollfd poller = {.fd = connection, .events = POLLIN};
                printf(poll(&poller, 1, 60000) == 1 && receive_message(connection, &more) ? "; closed" : "; open");
            }
            say("");
            return;
        }
        say("unknown reply");
        return;
    }
}

static void request(int connection, const char *account, pid_t as) {
    struct der d;
    ask_for(&d, account);
    if (send_message(connection, &d, -1, as)) { say("closed"); return; }
    tell_answer(connection);
}
