/* A Landlock domain for an arbitrary program: the program keeps access to its files, its network and what it executes, and loses access to
   other processes and the system's files. */
#define _GNU_SOURCE
#include "CVaubanProtection.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Defined here, since the headers may be older than the kernel. The numbers are the same on every architecture. */
#define CALL_CREATE_RULESET 444
#define CALL_ADD_RULE 445
#define CALL_RESTRICT_SELF 446
#define CREATE_RULESET_VERSION 1U
#define RULE_PATH_BENEATH 1
#define SCOPE_ABSTRACT_UNIX_SOCKET 1U
#define SCOPE_SIGNAL 2U

enum {
    WRITE_FILE = 1 << 1,
    REMOVE_DIR = 1 << 4,
    REMOVE_FILE = 1 << 5,
    MAKE_ANY = 0x7f << 6, /* devices, folders, files, sockets, pipes, links */
    MAKE_DEVICE = 1 << 6 | 1 << 11,
    REFER = 1 << 13,      /* into another folder */
    TRUNCATE = 1 << 14,
};
#define CHANGES ((uint64_t)(WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_ANY | REFER | TRUNCATE))
#define CHANGES_OF_A_FILE ((uint64_t)(WRITE_FILE | TRUNCATE))

struct ruleset_attributes {
    uint64_t files;
    uint64_t network;
    uint64_t scopes;
};

struct path_beneath {
    uint64_t rights;
    int32_t descriptor;
} __attribute__((packed));

/* The folders of a system's programs, libraries, settings and kernels, and of the running kernel's settings. */
static const char *const system_folders[] = {
    "/bin", "/boot", "/efi", "/etc", "/gnu", "/lib", "/lib32", "/lib64", "/libx32", "/nix", "/sbin", "/sys", "/usr",
};
/* Further folders that only root can write: the kernel's settings, some of which name programs that the kernel starts. */
static const char *const root_folders[] = {"/proc"};
/* Writing to a control group can end the processes in it, and a user owns several groups. */
static const char *const process_folders[] = {"/sys/fs/cgroup"};
#define COUNT(list) (sizeof list / sizeof *list)

bool vauban_protection_has_landlock(void) {
    return syscall(CALL_CREATE_RULESET, NULL, 0, CREATE_RULESET_VERSION) >= VAUBAN_PROTECTION_LANDLOCK;
}

/* What must not be changed, and the rules that allow everything else. Landlock has no exceptions within an allowed folder, so each allowed
   folder needs its own rule. */
struct allowance {
    int ruleset;
    /* The rights in a folder that is not kept. */
    uint64_t changes;
    const char **kept;
    size_t count;
};

/* Returns whether a path is the other path or below it. */
static bool is_within(const char *path, const char *folder) {
    size_t length = strlen(folder);
    return !strncmp(path, folder, length) && (path[length] == '\0' || path[length] == '/' || length == 1);
}

/* Returns whether the process runs as root or can become root again. */
static bool is_of_root(void) {
    uid_t real, effective, saved;
    return getresuid(&real, &effective, &saved) != 0 || !real || !effective || !saved;
}

static int allow(const struct allowance *allowance, int descriptor, uint64_t rights) {
    struct path_beneath rule = {rights, descriptor};
    return syscall(CALL_ADD_RULE, allowance->ruleset, RULE_PATH_BENEATH, &rule, 0) == 0 ? 0 : -errno;
}

/* Allows changes of everything in a folder except the folder itself and what is kept. */
static int allow_within(const struct allowance *allowance, int folder, const char *path) {
    int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* A folder that cannot be listed gets no rule, so it cannot be changed. */
    if (copy < 0) return 0;
    DIR *entries = fdopendir(copy);
    if (!entries) {
        close(copy);
        return -ENOMEM;
    }
    int problem = 0;
    struct dirent *entry;
    while (!problem && (entry = readdir(entries))) {
        char below[PATH_MAX];
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        int length = snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
        if (length < 0 || (size_t)length >= sizeof below) continue;
        bool is_kept = false, is_above = false;
        for (size_t index = 0; index < allowance->count; index++) {
            if (is_within(below, allowance->kept[index])) is_kept = true;
            if (is_within(allowance->kept[index], below)) is_above = true;
        }
        if (is_kept) continue;
        int descriptor = openat(folder, entry->d_name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        struct stat facts;
        if (descriptor < 0) continue;
        if (fstat(descriptor, &facts) == 0 && !S_ISLNK(facts.st_mode)) {
            if (!S_ISDIR(facts.st_mode))
                problem = allow(allowance, descriptor, CHANGES_OF_A_FILE);
            else
                problem = is_above ? allow_within(allowance, descriptor, below) : allow(allowance, descriptor, allowance->changes);
        }
        close(descriptor);
    }
    closedir(entries);
    return problem;
}

static void keep(struct allowance *allowance, const char *const *paths, size_t count) {
    for (size_t index = 0; index < count; index++) allowance->kept[allowance->count++] = paths[index];
}

static int allow_all_but(int ruleset, const struct vauban_protection_domain *domain) {
    struct allowance allowance = {
        ruleset, domain->keeps_system_files ? CHANGES & ~(uint64_t)MAKE_DEVICE : CHANGES,
        calloc(COUNT(system_folders) + COUNT(root_folders) + COUNT(process_folders) + domain->kept_count, sizeof(char *)), 0};
    if (!allowance.kept) return -ENOMEM;
    if (domain->keeps_system_files) keep(&allowance, system_folders, COUNT(system_folders));
    if (domain->keeps_system_files && is_of_root()) keep(&allowance, root_folders, COUNT(root_folders));
    if (domain->keeps_signals) keep(&allowance, process_folders, COUNT(process_folders));
    keep(&allowance, domain->kept, domain->kept_count);
    int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int problem = root < 0 ? -errno : allow_within(&allowance, root, "");
    if (root >= 0) close(root);
    free(allowance.kept);
    return problem;
}

int vauban_protection_enter_domain(const struct vauban_protection_domain *domain) {
    bool keeps_files = domain->keeps_system_files || domain->keeps_signals || domain->kept_count > 0;
    struct ruleset_attributes attributes = {
        keeps_files ? CHANGES : 0, 0,
        (domain->keeps_abstract_sockets ? SCOPE_ABSTRACT_UNIX_SOCKET : 0) | (domain->keeps_signals ? SCOPE_SIGNAL : 0)};
    if (!attributes.files && !attributes.scopes) return 0;
    int ruleset = (int)syscall(CALL_CREATE_RULESET, &attributes, sizeof attributes, 0);
    if (ruleset < 0) return -errno;
    int problem = keeps_files ? allow_all_but(ruleset, domain) : 0;
    if (!problem && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) problem = -errno;
    if (!problem && syscall(CALL_RESTRICT_SELF, ruleset, 0) != 0) problem = -errno;
    close(ruleset);
    return problem;
}
