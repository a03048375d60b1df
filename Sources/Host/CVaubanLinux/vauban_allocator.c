/* What the allocator does with freed memory. The header of these functions is not in Swift's module of glibc. */
#define _GNU_SOURCE
#include "CVaubanLinux.h"

#include <malloc.h>

void vauban_map_large_blocks(size_t bytes) { (void)mallopt(M_MMAP_THRESHOLD, (int)bytes); }

void vauban_give_back_free_pages(void) { (void)malloc_trim(0); }
