/* The clock that all programs read, so that their times can be compared: CLOCK_MONOTONIC, in nanoseconds. */
#include <stdint.h>
#include <time.h>

static inline uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}
