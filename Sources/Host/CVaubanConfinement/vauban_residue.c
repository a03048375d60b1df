/* Erases the secrets that remain in unowned memory: in freed blocks, on the stack below a thread's current frame, and in vector registers. */
#define _GNU_SOURCE
#include "CVaubanConfinement.h"
#include "CVaubanLinux.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

extern void __libc_free(void *block);

#ifndef VAUBAN_CHECKED_ADDRESSES
/* Replaces the C library's function for every library in the room. A cipher's key schedule begins with the key itself, and libraries free
   it without erasing it. */
void free(void *block) {
    if (block == NULL) return;
    int problem = errno;
    explicit_bzero(block, malloc_usable_size(block));
    __libc_free(block);
    errno = problem;
}

/* A block that moves leaves a copy behind, which must be overwritten too. */
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

/* The registers are cleared first, since the dynamic loader saves them on the stack when it resolves a function that is called next. */
__attribute__((noinline)) void vauban_scrub_stack(void) {
    vauban_clear_vectors();
    char beneath[VAUBAN_OVERWRITTEN_STACK];
    explicit_bzero(beneath, sizeof beneath);
}
