/* pam_vauban: unlocks a user's keychain with the password of their login (Manual/login.md).

   It decides no login: every function returns PAM_IGNORE. It prompts for nothing, keeps the password for one use, and passes it on a
   socket to `vauban login`, which runs as the user and has all the rules: whether there is anything to unlock, whether an attempt may
   be made, and what the user is told. This file contains what must run in the login's own process, in C, so that no other language's
   runtime enters it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <security/pam_ext.h>
#include <security/pam_modules.h>
#include <security/pam_modutil.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>
#include <grp.h>

#ifndef VAUBAN_PROGRAM
#define VAUBAN_PROGRAM "/usr/local/lib/vauban/vauban"
#endif
#define MEMORY_FOLDER "/var/lib/vauban/login"
#define DEVICE_SECRET "/var/lib/vauban/enclave/device-secret"
#define DATA_NAME "vauban_login"
#define SECRET_BYTES_MAX 1024
#define SENTENCE_BYTES_MAX 400
/* The time that a login waits for Vauban before it continues without it. */
#define SECONDS_MAX 5

/* The data of one login, in separate pages that are neither swapped nor dumped. */
struct login {
    char user[256];
    char secret[SECRET_BYTES_MAX + 1];
    char sentence[SENTENCE_BYTES_MAX + 1];
    bool was_tried;
};

static void erase_login(pam_handle_t *pamh, void *data, int status) {
    (void)pamh, (void)status;
    explicit_bzero(data, sizeof(struct login));
    munmap(data, sizeof(struct login));
}

static struct login *login_of(pam_handle_t *pamh) {
    const void *data = NULL;
    return pam_get_data(pamh, DATA_NAME, &data) == PAM_SUCCESS ? (struct login *)data : NULL;
}

static const char *item(pam_handle_t *pamh, int kind) {
    const void *value = NULL;
    return pam_get_item(pamh, kind, &value) == PAM_SUCCESS ? value : NULL;
}

/* Returns the path of the program that receives the password; NULL if others than root could change it. */
static const char *program(pam_handle_t *pamh, int argc, const char **argv) {
    const char *path = VAUBAN_PROGRAM;
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "program=", 8) == 0) path = argv[i] + 8;
        else if (strncmp(argv[i], "except=", 7) != 0) pam_syslog(pamh, LOG_WARNING, "unknown option \"%s\"", argv[i]);
    }
    struct stat file;
    if (path[0] == '/' && stat(path, &file) == 0 && S_ISREG(file.st_mode) && file.st_uid == 0 && (file.st_mode & 022) == 0) return path;
    pam_syslog(pamh, LOG_WARNING, "%s is missing, or others than root can change it; the keychain stays as it is", path);
    return NULL;
}

/* Returns whether what another module left as the password of this login is the PIN of a smart card or a code: root named the service in
   the option, or the module set the variable that pam_pkcs11 and pam_sss set for a login with a card. */
static bool has_no_password(pam_handle_t *pamh, int argc, const char **argv) {
    if (pam_getenv(pamh, "PKCS11_LOGIN_TOKEN_NAME") != NULL) return true;
    const char *service = item(pamh, PAM_SERVICE);
    if (service == NULL || service[0] == 0) return false;
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "except=", 7) != 0) continue;
        for (const char *name = argv[i] + 7; *name;) {
            size_t length = strcspn(name, ",");
            if (length == strlen(service) && strncmp(name, service, length) == 0) return true;
            name += length;
            if (*name == ',') name++;
        }
    }
    return false;
}

/* Writes the argument that names the service of the login, for the record of what was tried; nothing if the name is too long. */
static bool name_service(pam_handle_t *pamh, char *argument, size_t size) {
    const char *service = item(pamh, PAM_SERVICE);
    if (service == NULL || service[0] == 0) return false;
    int length = snprintf(argument, size, "--service=%s", service);
    return length > 0 && (size_t)length < size;
}

/* Runs in the child, only with system calls, since the login's program may have threads. Changes to the user and runs the program. */
static void become(const struct passwd *account, const char *folder, int in, int out, const char *path, char *const argv[]) {
    if (geteuid() == 0) {
        /* Before the first use there is nothing to unlock. A login is no such use, which would create the device secret: an image of the
           machine for cloning must not contain one. */
        struct stat secret;
        if (stat(DEVICE_SECRET, &secret) != 0 && errno == ENOENT) _exit(0);
        /* The folder in which `vauban login` records attempts as the user. Only root can change the folders that contain it. */
        umask(0);
        mkdir(MEMORY_FOLDER, 0711);
        mkdir(folder, 0700);
        if (lchown(folder, account->pw_uid, account->pw_gid) != 0 && errno != ENOENT) _exit(1);
        /* The effective group differs from the real one when the program starts, so that from its first instruction on the kernel lets no
           other program of the user trace it or open its descriptors. `vauban login` then drops the group. */
        gid_t guard = account->pw_gid == 65534 ? 65533 : 65534;
        if (setgroups(1, &account->pw_gid) != 0 || setresgid(account->pw_gid, guard, guard) != 0 ||
            setresuid(account->pw_uid, account->pw_uid, account->pw_uid) != 0) _exit(1);
    }
    umask(077);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    struct sigaction standard = {.sa_handler = SIG_DFL};
    for (int number = 1; number < 32; number++) sigaction(number, &standard, NULL);
    /* The login may have closed any of 0, 1 and 2, so the ends are first moved to higher numbers. */
    in = fcntl(in, F_DUPFD, 10);
    out = fcntl(out, F_DUPFD, 10);
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    nothing = nothing < 0 ? -1 : fcntl(nothing, F_DUPFD_CLOEXEC, 10);
    if (in < 0 || out < 0 || nothing < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(nothing, 2) < 0 || chdir("/") != 0) _exit(1);
    closefrom(3);
    setsid();
    char *const environment[] = {NULL};
    execve(path, argv, environment);
    _exit(1);
}

static int milliseconds_left(const struct timespec *end) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long left = (end->tv_sec - now.tv_sec) * 1000 + (end->tv_nsec - now.tv_nsec) / 1000000;
    return left > 0 ? (int)left : 0;
}

/* Reads the one line that the program prints, and makes it safe for any screen. Returns whether the line ended in time. */
static bool listen_to(int out, char *sentence) {
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += SECONDS_MAX;
    size_t count = 0;
    char rest[64];
    for (;;) {
        struct pollfd waiting = {.fd = out, .events = POLLIN};
        int ready = poll(&waiting, 1, milliseconds_left(&end));
        if (ready == 0) break;
        if (ready < 0 && errno != EINTR) break;
        if (ready < 0) continue;
        bool has_room = count < SENTENCE_BYTES_MAX;
        ssize_t got = read(out, has_room ? sentence + count : rest, has_room ? SENTENCE_BYTES_MAX - count : sizeof rest);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
            while (count > 0 && sentence[count - 1] == '\n') sentence[--count] = 0;
            for (char *byte = sentence; *byte; byte++)
                if ((unsigned char)*byte < 0x20 || *byte == 0x7f) *byte = ' ';
            return got == 0;
        }
        if (has_room) count += (size_t)got;
    }
    /* An incomplete sentence is discarded. */
    memset(sentence, 0, SENTENCE_BYTES_MAX + 1);
    return false;
}

/* Runs `vauban login` as the user and reads its line. Erases the secret, if any, after sending it. */
static void run(pam_handle_t *pamh, const char *user, const char *option, char *secret, char *sentence, int argc, const char **argv) {
    const struct passwd *account = pam_modutil_getpwnam(pamh, user);
    const char *path = program(pamh, argc, argv);
    int in[2] = {-1, -1}, out[2] = {-1, -1};
    char folder[64], day[32], service[64];
    /* A screen locker may run as the user. Other users have no access to this user's keychain. */
    if (account == NULL || path == NULL || (geteuid() != 0 && geteuid() != account->pw_uid)) goto done;
    snprintf(folder, sizeof folder, MEMORY_FOLDER "/%lu", (unsigned long)account->pw_uid);
    const struct spwd *shadow = pam_modutil_getspnam(pamh, user);
    if (shadow != NULL) snprintf(day, sizeof day, "--password-day=%ld", shadow->sp_lstchg);
    /* A socket and not a pipe, since a pipe could be opened again through /proc. */
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) != 0 || pipe2(out, O_CLOEXEC) != 0) goto done;
    char *arguments[6] = {"vauban", "login", (char *)option};
    int count = 3;
    if (shadow != NULL && shadow->sp_lstchg >= 0) arguments[count++] = day;
    if (secret != NULL && name_service(pamh, service, sizeof service)) arguments[count++] = service;

    /* A SIGCHLD handler of the login's program must neither reap this child nor run because of it. */
    struct sigaction standard = {.sa_handler = SIG_DFL}, before;
    sigaction(SIGCHLD, &standard, &before);
    pid_t child = fork();
    if (child == 0) become(account, folder, in[1], out[1], path, arguments);
    close(in[1]), close(out[1]);
    in[1] = out[1] = -1;
    if (child > 0) {
        if (secret != NULL) {
            size_t bytes = strlen(secret);
            /* Both fit into the socket's buffer, so neither call blocks. */
            if (send(in[0], secret, bytes, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)bytes) send(in[0], "\n", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
            explicit_bzero(secret, SECRET_BYTES_MAX);
        }
        close(in[0]);
        in[0] = -1;
        if (!listen_to(out[0], sentence)) pam_syslog(pamh, LOG_NOTICE, "Vauban did not answer within %d seconds", SECONDS_MAX);
        kill(child, SIGKILL);
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
    } else {
        pam_syslog(pamh, LOG_WARNING, "cannot start a process for Vauban");
    }
    sigaction(SIGCHLD, &before, NULL);
done:
    if (secret != NULL) explicit_bzero(secret, SECRET_BYTES_MAX);
    for (int i = 0; i < 2; i++) {
        if (in[i] >= 0) close(in[i]);
        if (out[i] >= 0) close(out[i]);
    }
}

/* Uses the password once, if this login has one for its present user. */
static void try_password(pam_handle_t *pamh, struct login *login, const char *user, int argc, const char **argv) {
    if (login->secret[0] == 0 || strcmp(login->user, user) != 0) return;
    login->was_tried = true;
    run(pamh, user, "--password-fd=0", login->secret, login->sentence, argc, argv);
}

PAM_EXTERN int pam_sm_authenticate(pam_handle_t *pamh, int flags, int argc, const char **argv) {
    (void)flags;
    const char *user = NULL, *token = has_no_password(pamh, argc, argv) ? NULL : item(pamh, PAM_AUTHTOK);
    if (pam_get_user(pamh, &user, NULL) != PAM_SUCCESS || user == NULL || strlen(user) >= sizeof((struct login *)0)->user) return PAM_IGNORE;
    struct login *login = mmap(NULL, sizeof *login, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (login == MAP_FAILED) return PAM_IGNORE;
    mlock(login, sizeof *login);
    madvise(login, sizeof *login, MADV_DONTDUMP);
    strcpy(login->user, user);
    if (token != NULL && strlen(token) <= SECRET_BYTES_MAX && strchr(token, '\n') == NULL) strcpy(login->secret, token);
    if (pam_set_data(pamh, DATA_NAME, login, erase_login) != PAM_SUCCESS) erase_login(pamh, login, 0);
    return PAM_IGNORE;
}

/* A login calls this before it opens the session; a screen locker calls only this. */
PAM_EXTERN int pam_sm_setcred(pam_handle_t *pamh, int flags, int argc, const char **argv) {
    struct login *login = login_of(pamh);
    const char *user = item(pamh, PAM_USER);
    if (login != NULL && user != NULL && (flags & PAM_DELETE_CRED) == 0) try_password(pamh, login, user, argc, argv);
    return PAM_IGNORE;
}

PAM_EXTERN int pam_sm_open_session(pam_handle_t *pamh, int flags, int argc, const char **argv) {
    struct login *login = login_of(pamh);
    const char *user = item(pamh, PAM_USER), *starter = item(pamh, PAM_RUSER);
    char said[SENTENCE_BYTES_MAX + 1] = {0};
    const char *sentence = said;
    if (user == NULL) return PAM_IGNORE;
    if (login != NULL) {
        /* With sudo, the password belongs to another user than the session. */
        if (strcmp(login->user, user) != 0) return PAM_IGNORE;
        try_password(pamh, login, user, argc, argv);
        if (login->was_tried) sentence = login->sentence;
    }
    if (sentence == said) {
        /* Another user became this one, as root does with su, so no one is there to see a message. */
        if ((flags & PAM_SILENT) != 0 || (starter != NULL && strcmp(starter, user) != 0)) return PAM_IGNORE;
        run(pamh, user, "--no-password", NULL, said, argc, argv);
    }
    if ((flags & PAM_SILENT) == 0 && sentence[0] != 0) pam_info(pamh, "%s", sentence);
    return PAM_IGNORE;
}

PAM_EXTERN int pam_sm_close_session(pam_handle_t *pamh, int flags, int argc, const char **argv) {
    (void)pamh, (void)flags, (void)argc, (void)argv;
    return PAM_IGNORE;
}

/* The login password has changed: removes what was recorded for the old one, and informs the user. */
PAM_EXTERN int pam_sm_chauthtok(pam_handle_t *pamh, int flags, int argc, const char **argv) {
    const char *user = item(pamh, PAM_USER);
    char sentence[SENTENCE_BYTES_MAX + 1] = {0};
    if (user == NULL || (flags & PAM_UPDATE_AUTHTOK) == 0) return PAM_IGNORE;
    run(pamh, user, "--password-changed", NULL, sentence, argc, argv);
    if ((flags & PAM_SILENT) == 0 && sentence[0] != 0) pam_info(pamh, "%s", sentence);
    return PAM_IGNORE;
}
