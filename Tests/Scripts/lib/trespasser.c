// A hostile program that attempts what the kernel forbids, and prints how each attempt was refused: `refused ERRNO…`, with 0 for each that was
// permitted, or `done`. Run by a user who has the right, the same attempts succeed, so a refusal is due to the missing right alone.
#include "attacker.h"

// Prints the kernel's results of some attempts: `refused ERRNO…`, with 0 for each that it permitted; or `done` if it permitted all.
static void tell_tries(const int *tries, int count) {
    int refused = 0;
    for (int index = 0; index < count; index++) if (tries[index]) refused++;
    printf(refused ? "refused" : "done");
    for (int index = 0; refused && index < count; index++) printf(" %d", tries[index]);
    say("");
}
static int try(long result) { return result < 0 ? errno : 0; }

// signal PID: sends it a signal by each system call: one without effect, and the one that stops it. A permitted stop is reverted.
static void send_signals(pid_t pid) {
    siginfo_t information = {.si_signo = SIGWINCH, .si_code = SI_QUEUE};
    int process = (int)syscall(SYS_pidfd_open, pid, 0);
    if (process < 0) fail("pidfd_open");
    int tries[] = {
        try(kill(pid, SIGWINCH)), try(syscall(SYS_tgkill, pid, pid, SIGWINCH)), try(syscall(SYS_rt_sigqueueinfo, pid, SIGWINCH, &information)),
        try(syscall(SYS_pidfd_send_signal, process, SIGWINCH, NULL, 0)), try(kill(pid, SIGSTOP)),
    };
    if (!tries[4]) kill(pid, SIGCONT);
    tell_tries(tries, 5);
}

// look PATH: opens a file or a folder for reading.
static void look(const char *path) { tell_tries((int[]){try(open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC))}, 1); }

// change PATH: opens it for writing, renames it, sets its mode. A permitted change is reverted.
static void change(const char *path) {
    char other[4096];
    snprintf(other, sizeof other, "%s.moved", path);
    int tries[] = {try(open(path, O_WRONLY | O_APPEND | O_CLOEXEC)), try(rename(path, other)), 0};
    if (!tries[1] && rename(other, path)) fail("rename back");
    struct stat information;
    // A program that cannot read its mode cannot request the same mode either.
    tries[2] = try(chmod(path, stat(path, &information) ? 0600 : information.st_mode & 07777));
    tell_tries(tries, 3);
}

// plant FOLDER: creates a file, a link, a folder and a socket in it. Permitted ones are removed.
static void plant(const char *folder) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/planted", folder);
    const char *path = address.sun_path;
    int tries[] = {0, 0, 0, 0};
    if (!(tries[0] = try(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)))) unlink(path);
    if (!(tries[1] = try(symlink("/etc/passwd", path)))) unlink(path);
    if (!(tries[2] = try(mkdir(path, 0700)))) rmdir(path);
    if (!(tries[3] = try(bind(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&address, sizeof address)))) unlink(path);
    tell_tries(tries, 4);
}

// link FROM TO: creates a hard link, which remains.
static void link_to(const char *from, const char *to) { tell_tries((int[]){try(link(from, to))}, 1); }

int main(int count, char **words) {
    // Only ends a test that hangs.
    const char *seconds = getenv("hang_seconds");
    alarm(seconds ? atoi(seconds) : 600);
    const char *word = count > 1 ? words[1] : "";
#define IS(name, least) (!strcmp(word, name) && count >= 2 + least)
    if (IS("signal", 1)) send_signals(atoi(words[2]));
    else if (IS("look", 1)) look(words[2]);
    else if (IS("change", 1)) change(words[2]);
    else if (IS("plant", 1)) plant(words[2]);
    else if (IS("link", 2)) link_to(words[2], words[3]);
    else { fprintf(stderr, "trespasser: what is %s?\n", word); return 64; }
    return 0;
}
