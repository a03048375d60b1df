/* The message bus as far as the watcher and the fingerprint reader need it: ask the login manager or fprintd, and hear their
   signals. Over sd-bus, whose variable arguments and containers Swift cannot call. Nothing here decides anything; a negative result is -errno.
   A connection is used by one thread. */
#ifndef CVAUBAN_BUS_H
#define CVAUBAN_BUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VAUBAN_BUS_NAME_MAX 256

struct vauban_bus;

/* What a signal says. Everything else that a bus may carry is VAUBAN_BUS_OTHER. */
enum vauban_bus_signal {
    VAUBAN_BUS_NOTHING = 0,
    VAUBAN_BUS_OTHER,
    /* The login manager's name has another owner now, or none. */
    VAUBAN_BUS_OWNER_CHANGED,
    /* The machine is about to sleep or to stop, or is back; `flag` says which. */
    VAUBAN_BUS_PREPARE,
    VAUBAN_BUS_SESSION_LOCK,
    VAUBAN_BUS_SESSION_UNLOCK,
    /* A session's LockedHint is `flag` now. */
    VAUBAN_BUS_LOCKED_HINT,
};

/* Connects to the bus at this address, whatever the environment says, and asks for the login manager's signals. Each call
   of this and the following functions ends after TIMEOUT microseconds. */
int vauban_bus_open(const char *address, uint64_t timeout, struct vauban_bus **result);
void vauban_bus_close(struct vauban_bus *bus);

/* Who owns the login manager's name: 1 with its unique name (VAUBAN_BUS_NAME_MAX bytes) and uid; 0 when nobody does. */
int vauban_bus_login_owner(struct vauban_bus *bus, char *unique, uint32_t *uid);
/* Whether the machine is about to sleep at this moment: 1 or 0. */
int vauban_bus_is_preparing_for_sleep(struct vauban_bus *bus, const char *owner);
/* Takes a delay inhibitor for sleep: a descriptor, close-on-exec. Closing it lets the machine sleep. */
int vauban_bus_delay_sleep(struct vauban_bus *bus, const char *owner, const char *who, const char *why);
/* Whose session this is: 0. */
int vauban_bus_session_user(struct vauban_bus *bus, const char *owner, const char *session, uint32_t *uid);

/* Takes what came: one signal (an enum vauban_bus_signal), or VAUBAN_BUS_NOTHING when there is no more at this moment. The
   sender (in the bus daemon's words) and the path are valid until the next call; they may be empty. */
int vauban_bus_next(struct vauban_bus *bus, const char **sender, const char **path, bool *flag);
/* Waits until something comes, at most so many microseconds (UINT64_MAX: without end): 0 or positive. */
int vauban_bus_wait(struct vauban_bus *bus, uint64_t timeout);

#include "CVaubanFprint.h"
#include "CVaubanSystemdBus.h"

#endif
