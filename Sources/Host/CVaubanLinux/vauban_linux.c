#define _GNU_SOURCE
#include "CVaubanLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

ssize_t vauban_send(int socket, const void *first, size_t first_count, const void *second, size_t second_count,
                    const int32_t *descriptors, int32_t descriptor_count) {
    struct iovec parts[2] = {{(void *)first, first_count}, {(void *)second, second_count}};
    union {
        char bytes[CMSG_SPACE(sizeof(int32_t) * VAUBAN_DESCRIPTORS_MAX)];
        struct cmsghdr align;
    } control;
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = second_count ? 2 : 1};
    if (descriptor_count > VAUBAN_DESCRIPTORS_MAX) return -EINVAL;
    if (descriptor_count > 0) {
        memset(&control, 0, sizeof control);
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(sizeof(int32_t) * descriptor_count);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int32_t) * descriptor_count);
        memcpy(CMSG_DATA(header), descriptors, sizeof(int32_t) * descriptor_count);
    }
    ssize_t sent;
    do sent = sendmsg(socket, &message, MSG_NOSIGNAL); while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : sent;
}

ssize_t vauban_receive(int socket, void *buffer, size_t count, struct vauban_ancillary *ancillary) {
    struct iovec part = {buffer, count};
    /* Space for more descriptors than are allowed, so that surplus ones are received and closed. Otherwise the kernel would drop them
       silently. */
    union {
        char bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int32_t) * 16) + CMSG_SPACE(64)];
        struct cmsghdr align;
    } control;
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    memset(ancillary, 0, sizeof *ancillary);
    ssize_t received;
    do received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC); while (received < 0 && errno == EINTR);
    if (received < 0) return -errno;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET) continue;
        if (header->cmsg_type == SCM_CREDENTIALS) {
            struct ucred credentials;
            memcpy(&credentials, CMSG_DATA(header), sizeof credentials);
            ancillary->has_credentials = true;
            ancillary->pid = credentials.pid;
            ancillary->uid = credentials.uid;
        } else if (header->cmsg_type == SCM_RIGHTS) {
            size_t carried = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int32_t);
            for (size_t index = 0; index < carried; index++) {
                int32_t descriptor;
                memcpy(&descriptor, CMSG_DATA(header) + index * sizeof descriptor, sizeof descriptor);
                if (ancillary->descriptor_count < VAUBAN_DESCRIPTORS_MAX) {
                    ancillary->descriptors[ancillary->descriptor_count++] = descriptor;
                } else {
                    close(descriptor);
                    ancillary->truncated = true;
                }
            }
        }
    }
    if (message.msg_flags & MSG_CTRUNC) ancillary->truncated = true;
    return received;
}

int vauban_accept(int socket) {
    int descriptor = accept4(socket, NULL, NULL, SOCK_CLOEXEC);
    return descriptor < 0 ? -errno : descriptor;
}

int vauban_peer_credentials(int socket, int32_t *pid, uint32_t *uid) {
    struct ucred credentials;
    socklen_t length = sizeof credentials;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return -errno;
    *pid = credentials.pid;
    *uid = credentials.uid;
    return 0;
}

int vauban_peer_pidfd(int socket) {
    int descriptor = -1;
    socklen_t length = sizeof descriptor;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &descriptor, &length) != 0) return -errno;
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    return descriptor;
}

int vauban_pidfd_open(pid_t pid) {
    int descriptor = (int)syscall(SYS_pidfd_open, pid, 0);
    return descriptor < 0 ? -errno : descriptor;
}

int vauban_pass_credentials(int socket) {
    int on = 1;
    return setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) == 0 ? 0 : -errno;
}

/* /proc/self/fd/N/NAME keeps the address short, however long the folder's path is. */
static int short_address(int folder, const char *name, struct sockaddr_un *address) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    int length = snprintf(address->sun_path, sizeof address->sun_path, "/proc/self/fd/%d/%s", folder, name);
    return length < 0 || (size_t)length >= sizeof address->sun_path ? -ENAMETOOLONG : 0;
}

int vauban_bind_in(int folder, const char *name, mode_t mode) {
    struct sockaddr_un address;
    int problem = short_address(folder, name, &address);
    if (problem) return problem;
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -errno;
    /* Only this user can enter the folder and this process holds its lock, so no process listens on a socket found there. */
    unlinkat(folder, name, 0);
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) != 0 || fchmodat(folder, name, mode, 0) != 0
        || listen(descriptor, 4096) != 0) {
        problem = -errno;
        close(descriptor);
        return problem;
    }
    return descriptor;
}

int vauban_open_place(const char *path) {
    int descriptor = open(path, O_PATH | O_CLOEXEC);
    return descriptor < 0 ? -errno : descriptor;
}

int vauban_file_system(int descriptor, uint32_t *kind, bool *is_nosuid) {
    struct statfs system;
    if (fstatfs(descriptor, &system) != 0) return -errno;
    *kind = (uint32_t)system.f_type;
    *is_nosuid = (system.f_flags & ST_NOSUID) != 0;
    return 0;
}

/* As in linux/fs.h, which cannot be included together with sys/mount.h. The kernel transfers an int, although the number encodes a long. */
#define GET_FLAGS _IOR('f', 1, long)
#define SET_FLAGS _IOW('f', 2, long)

int vauban_file_flags(int descriptor, uint32_t *flags) {
    int found = 0;
    if (ioctl(descriptor, GET_FLAGS, &found) != 0) return -errno;
    *flags = (uint32_t)found;
    return 0;
}

int vauban_set_file_flags(int descriptor, uint32_t flags) {
    int wanted = (int)flags;
    return ioctl(descriptor, SET_FLAGS, &wanted) == 0 ? 0 : -errno;
}

int vauban_connect_in(int folder, const char *name) {
    struct sockaddr_un address;
    int problem = short_address(folder, name, &address);
    if (problem) return problem;
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -errno;
    int status;
    do status = connect(descriptor, (struct sockaddr *)&address, sizeof address); while (status != 0 && errno == EINTR);
    if (status != 0) {
        problem = -errno;
        close(descriptor);
        return problem;
    }
    return descriptor;
}

#define ALL_SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

int vauban_sealed_memory(const char *name, const void *bytes, size_t count) {
    int descriptor = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (descriptor < 0) return -errno;
    if (write(descriptor, bytes, count) != (ssize_t)count || fcntl(descriptor, F_ADD_SEALS, ALL_SEALS) != 0) {
        int problem = errno ? -errno : -EIO;
        close(descriptor);
        return problem;
    }
    return descriptor;
}

int vauban_is_sealed_memory(int descriptor) {
    int seals = fcntl(descriptor, F_GET_SEALS);
    return seals >= 0 && (seals & ALL_SEALS) == ALL_SEALS;
}

bool vauban_is_privileged(void) { return getauxval(AT_SECURE) != 0; }

int vauban_harden_process(void) {
    struct rlimit none = {0, 0};
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return -errno;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -errno;
    if (setrlimit(RLIMIT_CORE, &none) != 0) return -errno;
    /* The default limit of 1024 descriptors is less than what a socket's connections need. */
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) return -errno;
    rlim_t wanted = files.rlim_max < 16384 ? files.rlim_max : 16384;
    if (files.rlim_cur < wanted) {
        files.rlim_cur = wanted;
        if (setrlimit(RLIMIT_NOFILE, &files) != 0) return -errno;
    }
    return 0;
}

int vauban_hide_process(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 ? 0 : -errno; }

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

int vauban_restrict_process(bool forbids_new_privileges, bool forbids_new_code) {
    struct rlimit none = {0, 0};
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 || setrlimit(RLIMIT_CORE, &none) != 0) return -errno;
    if (forbids_new_privileges && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -errno;
    if (forbids_new_code && prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) != 0) return -errno;
    return 0;
}

int vauban_adopt_orphans(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0 ? 0 : -errno; }

#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

void *vauban_secret_file_pages(size_t count) {
    int descriptor = (int)syscall(SYS_memfd_secret, O_CLOEXEC);
    if (descriptor < 0) return NULL;
    void *pages = MAP_FAILED;
    if (ftruncate(descriptor, (off_t)count) == 0) pages = mmap(NULL, count, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    int problem = errno;
    close(descriptor);
    errno = problem;
    if (pages == MAP_FAILED) return NULL;
    madvise(pages, count, MADV_DONTFORK);
    return pages;
}

void *vauban_private_pages(size_t count) {
    void *pages = mmap(NULL, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return NULL;
    madvise(pages, count, MADV_DONTDUMP);
    madvise(pages, count, MADV_WIPEONFORK);
    return pages;
}

uint64_t vauban_lock_limit(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_MEMLOCK, &limit) == 0 ? limit.rlim_cur : 0;
}

int vauban_lock_pages(void *pages, size_t count) { return mlock2(pages, count, MLOCK_ONFAULT) == 0 ? 0 : -errno; }

int vauban_random(void *buffer, size_t count) {
    uint8_t *bytes = buffer;
    while (count > 0) {
        ssize_t got = getrandom(bytes, count, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -errno;
        bytes += got;
        count -= (size_t)got;
    }
    return 0;
}

int vauban_signal_descriptor(const int32_t *signals, int32_t count) {
    sigset_t set;
    sigemptyset(&set);
    for (int32_t index = 0; index < count; index++) sigaddset(&set, signals[index]);
    if (sigprocmask(SIG_BLOCK, &set, NULL) != 0) return -errno;
    int descriptor = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return descriptor < 0 ? -errno : descriptor;
}

int vauban_next_signal(int descriptor) {
    struct signalfd_siginfo information;
    ssize_t got;
    do got = read(descriptor, &information, sizeof information); while (got < 0 && errno == EINTR);
    if (got < 0) return errno == EAGAIN ? 0 : -errno;
    return got == sizeof information ? (int)information.ssi_signo : -EIO;
}

int vauban_signal_process(int process, int signal) {
    return syscall(SYS_pidfd_send_signal, process, signal, NULL, 0) == 0 ? 0 : -errno;
}

int vauban_has_capabilities(int descriptor) { return fgetxattr(descriptor, "security.capability", NULL, 0) > 0; }

static int copy_attribute(int from, int to, const char *name) {
    char value[65536]; // XATTR_SIZE_MAX
    ssize_t size = fgetxattr(from, name, value, sizeof value);
    if (size >= 0 && fsetxattr(to, name, value, (size_t)size, 0) == 0) return 0;
    // The security policy assigns labels, and the new file already has its own.
    return strncmp(name, "security.", 9) ? -errno : 0;
}

int vauban_copy_ownership(int from, int to) {
    static const char *const of_content[] = {"security.capability", "security.ima", "security.evm"};
    struct stat old, new;
    char names[65536]; // XATTR_LIST_MAX
    if (fstat(from, &old) != 0 || fstat(to, &new) != 0) return -errno;
    uid_t user = old.st_uid == new.st_uid ? (uid_t)-1 : old.st_uid;
    gid_t group = old.st_gid == new.st_gid ? (gid_t)-1 : old.st_gid;
    if (fchown(to, user, group) != 0 && (errno != EPERM || geteuid() == 0)) return -errno;
    ssize_t size = flistxattr(from, names, sizeof names);
    if (size < 0) return errno == EOPNOTSUPP ? 0 : -errno;
    for (const char *name = names; name < names + size; name += strlen(name) + 1) {
        int is_of_content = 0;
        for (size_t index = 0; index < sizeof of_content / sizeof *of_content; index++)
            if (!strcmp(name, of_content[index])) is_of_content = 1;
        int problem = is_of_content ? 0 : copy_attribute(from, to, name);
        if (problem) return problem;
    }
    return 0;
}

int vauban_rename_new(const char *from, const char *to) {
    /* RENAME_NOREPLACE; glibc before 2.28 has no renameat2. */
    return syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 1) == 0 ? 0 : -errno;
}

int vauban_clock_is_synchronized(void) {
    struct timex state = {0};
    return adjtimex(&state) != TIME_ERROR;
}
