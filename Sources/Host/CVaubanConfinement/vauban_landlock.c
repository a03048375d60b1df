#define _GNU_SOURCE
#include "CVaubanConfinement.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Defined here, since the headers may be older than the kernel. The numbers are the same on every architecture. */
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif
#define CREATE_RULESET_VERSION 1U
#define RULE_PATH_BENEATH 1
#define RULE_NET_PORT 2
#define CONNECT_TCP 2

struct ruleset_attributes {
    uint64_t files;
    uint64_t network; /* version 4 */
    uint64_t scopes;  /* version 6 */
};

struct path_beneath {
    uint64_t rights;
    int32_t descriptor;
} __attribute__((packed));

struct net_port {
    uint64_t rights;
    uint64_t port;
};

int vauban_landlock_version(void) {
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_RULESET_VERSION);
    return version < 0 ? -errno : (int)version;
}

int vauban_landlock_restrict(uint64_t files, uint64_t network, uint64_t scopes, const struct vauban_landlock_rule *rules, int count,
                             const uint16_t *ports, int port_count) {
    struct ruleset_attributes attributes = {files, network, scopes};
    /* A kernel accepts a longer structure than it supports if the rest is zero. */
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0);
    if (ruleset < 0) return -errno;
    int problem = 0;
    for (int index = 0; index < count && !problem; index++) {
        struct path_beneath rule = {rules[index].rights, rules[index].descriptor};
        if (syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &rule, 0) != 0) problem = -errno;
    }
    for (int index = 0; index < port_count && !problem; index++) {
        struct net_port rule = {CONNECT_TCP, ports[index]};
        if (syscall(SYS_landlock_add_rule, ruleset, RULE_NET_PORT, &rule, 0) != 0) problem = -errno;
    }
    if (!problem && syscall(SYS_landlock_restrict_self, ruleset, 0) != 0) problem = -errno;
    close(ruleset);
    return problem;
}
