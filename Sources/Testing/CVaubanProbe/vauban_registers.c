/* What a function finds in the vector registers that its caller left it. */
#include "CVaubanProbe.h"

#include <string.h>

#if defined(__x86_64__)
/* The lower 16 bytes of each. */
static void store(unsigned char registers[16][16]) {
    __asm__ volatile("movdqu %%xmm0, 0(%0)\n movdqu %%xmm1, 16(%0)\n movdqu %%xmm2, 32(%0)\n movdqu %%xmm3, 48(%0)\n"
                     "movdqu %%xmm4, 64(%0)\n movdqu %%xmm5, 80(%0)\n movdqu %%xmm6, 96(%0)\n movdqu %%xmm7, 112(%0)\n"
                     "movdqu %%xmm8, 128(%0)\n movdqu %%xmm9, 144(%0)\n movdqu %%xmm10, 160(%0)\n movdqu %%xmm11, 176(%0)\n"
                     "movdqu %%xmm12, 192(%0)\n movdqu %%xmm13, 208(%0)\n movdqu %%xmm14, 224(%0)\n movdqu %%xmm15, 240(%0)" :
                     : "r"(registers) : "memory");
}
#elif defined(__aarch64__)
static void store(unsigned char registers[16][16]) {
    __asm__ volatile("stp q0, q1, [%0]\n stp q2, q3, [%0, #32]\n stp q4, q5, [%0, #64]\n stp q6, q7, [%0, #96]\n"
                     "stp q16, q17, [%0, #128]\n stp q18, q19, [%0, #160]\n stp q20, q21, [%0, #192]\n stp q22, q23, [%0, #224]" :
                     : "r"(registers) : "memory");
}
#else
static void store(unsigned char registers[16][16]) { memset(registers, 0, 256); }
#endif

int vauban_probe_registers_hold(const void *bytes) {
    unsigned char registers[16][16];
    store(registers);
    for (int index = 0; index < 16; index++)
        if (memcmp(registers[index], bytes, 16) == 0) return 1;
    return 0;
}
