/* Seals the mapped code: nothing in this process can make it writable, or replace, move or unmap it. */
#define _GNU_SOURCE
#include "CVaubanProtection.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Defined here, since the headers may be older than the kernel. The number is the same on every architecture. */
#define CALL_MSEAL 462

#ifndef PR_GET_MDWE
#define PR_GET_MDWE 66
#endif

bool vauban_protection_can_forbid_new_code(void) { return prctl(PR_GET_MDWE, 0, 0, 0, 0) >= 0; }

bool vauban_protection_has_sealing(void) {
    /* A call with length zero seals nothing and reveals whether the kernel has mseal. */
    return syscall(CALL_MSEAL, 0, 0, 0) == 0;
}

struct mapping {
    uintptr_t start, end;
    unsigned long inode;
    unsigned int major, minor;
    bool is_code, is_writable;
};

/* Returns the mappings of files. The list is read completely before any mapping changes. NULL with errno if it cannot be read. */
static struct mapping *file_mappings(size_t *count) {
    FILE *file = fopen("/proc/self/maps", "re");
    if (!file) return NULL;
    struct mapping *mappings = NULL;
    size_t capacity = 0;
    char *line = NULL;
    size_t length = 0;
    *count = 0;
    while (getline(&line, &length, file) > 0) {
        struct mapping found = {0};
        char access[5];
        if (sscanf(line, "%lx-%lx %4s %*x %x:%x %lu", &found.start, &found.end, access, &found.major, &found.minor, &found.inode) != 6 ||
            !found.inode)
            continue;
        found.is_writable = access[1] == 'w';
        found.is_code = access[2] == 'x';
        if (*count == capacity) {
            capacity = capacity ? 2 * capacity : 64;
            struct mapping *longer = realloc(mappings, capacity * sizeof *mappings);
            if (!longer) {
                *count = 0;
                free(mappings);
                mappings = NULL;
                break;
            }
            mappings = longer;
        }
        mappings[(*count)++] = found;
    }
    free(line);
    fclose(file);
    if (!mappings) errno = ENOMEM;
    return mappings;
}

int vauban_protection_seal_code(void) {
    if (!vauban_protection_has_sealing()) return -errno;
    size_t count;
    struct mapping *mappings = file_mappings(&count);
    if (!mappings) return -errno;
    int problem = 0;
    for (size_t index = 0; index < count && !problem; index++) {
        const struct mapping *mapping = &mappings[index];
        if (mapping->is_writable) continue;
        /* Seals only programs and libraries, and no other mapped files. */
        bool has_code = false;
        for (size_t other = 0; other < count; other++)
            if (mappings[other].is_code && mappings[other].inode == mapping->inode && mappings[other].major == mapping->major &&
                mappings[other].minor == mapping->minor)
                has_code = true;
        if (has_code && syscall(CALL_MSEAL, mapping->start, mapping->end - mapping->start, 0) != 0) problem = -errno;
    }
    free(mappings);
    return problem;
}
