/* Messages whose senders are checked, and processes that serve them. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>
#include "floor.h"

__attribute__((noinline)) void overwrite_stack(void) {
    volatile uint8_t stack[65536];
    explicit_bzero((void *)stack, sizeof stack);
}

int begin(struct peer *peer) {
    socklen_t size = sizeof peer->user;
    if (getsockopt(peer->socket, SOL_SOCKET, SO_PEERCRED, &peer->user, &size)) return -1;
    if (setsockopt(peer->socket, SOL_SOCKET, SO_PASSCRED, &(int){1}, sizeof(int))) return -1;
    return (peer->process = (int)syscall(SYS_pidfd_open, peer->user.pid, 0)) < 0 ? -1 : 0;
}

/* Receives one message, and verifies that it comes from the process that connected and still runs. Returns 0 at the end. */
int receive(struct peer *peer, void *message, size_t count) {
    union { char bytes[CMSG_SPACE(sizeof(struct ucred))]; struct cmsghdr align; } control;
    struct iovec part = {message, count};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    if (recvmsg(peer->socket, &header, MSG_CMSG_CLOEXEC | MSG_WAITALL) != (ssize_t)count) return 0;
    struct cmsghdr *first = CMSG_FIRSTHDR(&header);
    if (!first || first->cmsg_type != SCM_CREDENTIALS) return 0;
    struct ucred sender;
    memcpy(&sender, CMSG_DATA(first), sizeof sender);
    struct pollfd alive = {peer->process, POLLIN, 0};
    return sender.pid == peer->user.pid && sender.uid == peer->user.uid && poll(&alive, 1, 0) == 0;
}

void transmit(int socket, const void *message, size_t count) {
    if (send(socket, message, count, MSG_NOSIGNAL) != (ssize_t)count) fail("send");
}

int connect_to(const char *name) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", folder, name);
    int end = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (end < 0 || connect(end, (struct sockaddr *)&address, sizeof address)) fail(name);
    return end;
}

static int listen_at(const char *name) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", folder, name);
    int end = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (end < 0 || bind(end, (struct sockaddr *)&address, sizeof address) || listen(end, 128)) fail(name);
    return end;
}

/* Starts a process that serves each connection in a separate thread. It calls listen itself, since the kernel reports that process to
   clients as their peer. */
void serve(const char *name, void *(*connection)(void *)) {
    int ready[2];
    char byte = 1;
    if (pipe(ready)) fail("pipe");
    pid_t child = fork();
    if (child < 0) fail("fork");
    if (child) {
        close(ready[1]);
        if (read(ready[0], &byte, 1) != 1) fail(name);
        close(ready[0]);
        return;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int end = listen_at(name);
    if (write(ready[1], &byte, 1) != 1) fail("write");
    for (;;) {
        struct peer *peer = malloc(sizeof *peer);
        pthread_t thread;
        peer->socket = accept4(end, NULL, NULL, SOCK_CLOEXEC);
        if (peer->socket < 0 || begin(peer) || pthread_create(&thread, NULL, connection, peer)) fail(name);
        pthread_detach(thread);
    }
}

