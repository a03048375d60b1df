/* The message bus for the watcher and the fingerprint reader: calls to the login manager and fprintd, and their signals. It wraps sd-bus,
   whose variadic functions and containers Swift cannot use. This module makes no decisions; a negative result is -errno. A connection must
   be used by one thread only. */
#ifndef CVAUBAN_BUS_H
#define CVAUBAN_BUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VAUBAN_BUS_NAME_MAX 256

struct vauban_bus;

/* The kinds of signals. Everything else that a bus may carry is VAUBAN_BUS_OTHER. */
enum vauban_bus_signal {
    VAUBAN_BUS_NOTHING = 0,
    VAUBAN_BUS_OTHER,
    /* The login manager's name has a new owner, or none. */
    VAUBAN_BUS_OWNER_CHANGED,
    /* The machine is about to sleep or to stop, or is awake again, according to `flag`. */
    VAUBAN_BUS_PREPARE,
    VAUBAN_BUS_SESSION_LOCK,
    VAUBAN_BUS_SESSION_UNLOCK,
    /* The LockedHint property of a session has the value `flag`. */
    VAUBAN_BUS_LOCKED_HINT,
};

/* Connects to the bus at this address, whatever the environment contains, and subscribes to the login manager's signals. Each call of this
   and of the following functions takes at most TIMEOUT microseconds. */
int vauban_bus_open(const char *address, uint64_t timeout, struct vauban_bus **result);
void vauban_bus_close(struct vauban_bus *bus);

/* Finds the owner of the login manager's name: 1 with its unique name (VAUBAN_BUS_NAME_MAX bytes) and uid; 0 if there is none. */
int vauban_bus_login_owner(struct vauban_bus *bus, char *unique, uint32_t *uid);
/* Returns whether the machine is about to sleep: 1 or 0. */
int vauban_bus_is_preparing_for_sleep(struct vauban_bus *bus, const char *owner);
/* Takes a delay inhibitor for sleep: a descriptor, close-on-exec. Closing it lets the machine sleep. */
int vauban_bus_delay_sleep(struct vauban_bus *bus, const char *owner, const char *who, const char *why);
/* Finds the user of a session: 0. */
int vauban_bus_session_user(struct vauban_bus *bus, const char *owner, const char *session, uint32_t *uid);

/* Takes the next signal (an enum vauban_bus_signal), or VAUBAN_BUS_NOTHING if there is none now. The sender, as the bus daemon names it,
   and the path are valid until the next call; they may be empty. */
int vauban_bus_next(struct vauban_bus *bus, const char **sender, const char **path, bool *flag);
/* Waits until the bus is readable, at most so many microseconds (UINT64_MAX: no limit): 0 or positive. */
int vauban_bus_wait(struct vauban_bus *bus, uint64_t timeout);

#include "CVaubanFprint.h"
#include "CVaubanSystemdBus.h"

#endif
