/* What a secret leaves behind in memory that is nobody's any more: blocks that were freed, and the stack beneath a thread. */
#define _GNU_SOURCE
#include "CVaubanConfinement.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

extern void __libc_free(void *block);

#ifndef VAUBAN_CHECKED_ADDRESSES
/* In place of the C library's, for every library of the room: a cipher's key schedule begins with the key itself, and the
   libraries that make one give the block back as it is. */
void free(void *block) {
    if (block == NULL) return;
    int problem = errno;
    explicit_bzero(block, malloc_usable_size(block));
    __libc_free(block);
    errno = problem;
}

/* A block that moves leaves its old place, which is overwritten too. */
void *realloc(void *block, size_t count) {
    if (block == NULL) return malloc(count);
    if (count == 0) {
        free(block);
        return NULL;
    }
    size_t old = malloc_usable_size(block);
    if (count <= old && count >= old / 2) return block;
    void *moved = malloc(count);
    if (moved == NULL) return count <= old ? block : NULL;
    memcpy(moved, block, old < count ? old : count);
    free(block);
    return moved;
}
#endif

__attribute__((noinline)) void vauban_scrub_stack(void) {
    char beneath[VAUBAN_OVERWRITTEN_STACK];
    explicit_bzero(beneath, sizeof beneath);
}
