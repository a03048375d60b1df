#define _GNU_SOURCE
#include "CVaubanLinux.h"

#include <errno.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/* TFD_TIMER_CANCEL_ON_SET makes the descriptor readable with ECANCELED when the date is set, and when the machine resumes. */
#ifndef TFD_TIMER_CANCEL_ON_SET
#define TFD_TIMER_CANCEL_ON_SET (1 << 1)
#endif

int vauban_boot_timer(void) {
    int descriptor = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    return descriptor < 0 ? -errno : descriptor;
}

int vauban_set_boot_timer(int descriptor, uint64_t nanoseconds) {
    struct itimerspec when = {.it_value = {.tv_sec = nanoseconds / 1000000000u, .tv_nsec = nanoseconds % 1000000000u}};
    return timerfd_settime(descriptor, TFD_TIMER_ABSTIME, &when, NULL) == 0 ? 0 : -errno;
}

int vauban_rearm_clock_jump(int descriptor) {
    uint64_t count;
    /* The time is far in the future, since only the cancellation matters. */
    struct itimerspec when = {.it_value = {.tv_sec = 4102444800}};
    ssize_t ignored = read(descriptor, &count, sizeof count);
    (void)ignored;
    return timerfd_settime(descriptor, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &when, NULL) == 0 ? 0 : -errno;
}

int vauban_clock_jump(void) {
    int descriptor = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (descriptor < 0) return -errno;
    int result = vauban_rearm_clock_jump(descriptor);
    if (result == 0) return descriptor;
    close(descriptor);
    return result;
}
