/* Releases pages of the program and its libraries that only startup needed: symbols, relocations, and tables that are searched once. */
#define _GNU_SOURCE
#include "CVaubanLinux.h"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

static int give_back(struct dl_phdr_info *object, size_t size, void *page) {
    (void)size;
    uintptr_t mask = *(uintptr_t *)page - 1;
    for (int index = 0; index < object->dlpi_phnum; index++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[index];
        /* Writable parts contain relocations, which are in no file. */
        if (part->p_type != PT_LOAD || part->p_flags & PF_W) continue;
        uintptr_t begin = (object->dlpi_addr + part->p_vaddr) & ~mask;
        uintptr_t end = (object->dlpi_addr + part->p_vaddr + part->p_filesz + mask) & ~mask;
        /* A part that the kernel does not release, such as its own object, stays as it is, so the result is ignored. */
        (void)madvise((void *)begin, end - begin, MADV_DONTNEED);
    }
    return 0;
}

void vauban_give_back_read_pages(void) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    dl_iterate_phdr(give_back, &page);
}
