/* Overwrites the vector registers, in which ciphers leave keys. */

#include "CVaubanLinux.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <stdatomic.h>

/* The usable instructions depend on the processor and on the registers that the kernel saves (Intel SDM, volume 1, chapter 13: XCR0). */
__attribute__((target("xsave"))) static unsigned long long saved_by_kernel(void) {
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (unsigned long long)high << 32 | low;
}

static int find_level(void) {
    unsigned eax, ebx, ecx, edx;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & bit_OSXSAVE) || !(ecx & bit_AVX)) return 0;
    unsigned long long saved = saved_by_kernel();
    if ((saved & 0x6) != 0x6) return 0;
    if ((saved & 0xe0) != 0xe0 || !__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) || !(ebx & bit_AVX512F)) return 1;
    return 2;
}

/* Cached, since a virtual machine traps these instructions, which takes longer than everything else here. */
static int level(void) {
    static _Atomic int known = -1;
    int level = atomic_load_explicit(&known, memory_order_relaxed);
    if (level < 0) {
        level = find_level();
        atomic_store_explicit(&known, level, memory_order_relaxed);
    }
    return level;
}

__attribute__((target("avx512f"))) static void clear_upper_vectors(void) {
    __asm__ volatile("vpxorq %%zmm16, %%zmm16, %%zmm16\n vpxorq %%zmm17, %%zmm17, %%zmm17\n vpxorq %%zmm18, %%zmm18, %%zmm18\n"
                     "vpxorq %%zmm19, %%zmm19, %%zmm19\n vpxorq %%zmm20, %%zmm20, %%zmm20\n vpxorq %%zmm21, %%zmm21, %%zmm21\n"
                     "vpxorq %%zmm22, %%zmm22, %%zmm22\n vpxorq %%zmm23, %%zmm23, %%zmm23\n vpxorq %%zmm24, %%zmm24, %%zmm24\n"
                     "vpxorq %%zmm25, %%zmm25, %%zmm25\n vpxorq %%zmm26, %%zmm26, %%zmm26\n vpxorq %%zmm27, %%zmm27, %%zmm27\n"
                     "vpxorq %%zmm28, %%zmm28, %%zmm28\n vpxorq %%zmm29, %%zmm29, %%zmm29\n vpxorq %%zmm30, %%zmm30, %%zmm30\n"
                     "vpxorq %%zmm31, %%zmm31, %%zmm31" ::: "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24",
                     "xmm25", "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31");
}

__attribute__((target("avx"))) static void clear_wide_vectors(void) {
    __asm__ volatile("vzeroall" ::: "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
                     "xmm13", "xmm14", "xmm15");
}

static void clear_vectors(void) {
    __asm__ volatile("pxor %%xmm0, %%xmm0\n pxor %%xmm1, %%xmm1\n pxor %%xmm2, %%xmm2\n pxor %%xmm3, %%xmm3\n pxor %%xmm4, %%xmm4\n"
                     "pxor %%xmm5, %%xmm5\n pxor %%xmm6, %%xmm6\n pxor %%xmm7, %%xmm7\n pxor %%xmm8, %%xmm8\n pxor %%xmm9, %%xmm9\n"
                     "pxor %%xmm10, %%xmm10\n pxor %%xmm11, %%xmm11\n pxor %%xmm12, %%xmm12\n pxor %%xmm13, %%xmm13\n"
                     "pxor %%xmm14, %%xmm14\n pxor %%xmm15, %%xmm15" ::: "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
                     "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

void vauban_clear_vectors(void) {
    int registers = level();
    if (registers == 2) clear_upper_vectors();
    if (registers >= 1) clear_wide_vectors();
    else clear_vectors();
}
#elif defined(__aarch64__)
/* The lower halves of v8 to v15 belong to the caller (AAPCS64, 6.1.2). */
void vauban_clear_vectors(void) {
    __asm__ volatile("movi v0.2d, #0\n movi v1.2d, #0\n movi v2.2d, #0\n movi v3.2d, #0\n movi v4.2d, #0\n movi v5.2d, #0\n"
                     "movi v6.2d, #0\n movi v7.2d, #0\n movi v16.2d, #0\n movi v17.2d, #0\n movi v18.2d, #0\n movi v19.2d, #0\n"
                     "movi v20.2d, #0\n movi v21.2d, #0\n movi v22.2d, #0\n movi v23.2d, #0\n movi v24.2d, #0\n movi v25.2d, #0\n"
                     "movi v26.2d, #0\n movi v27.2d, #0\n movi v28.2d, #0\n movi v29.2d, #0\n movi v30.2d, #0\n movi v31.2d, #0\n" :::
                     "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25",
                     "v26", "v27", "v28", "v29", "v30", "v31");
}
#else
void vauban_clear_vectors(void) {}
#endif
