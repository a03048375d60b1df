/* fprintd on the message bus. This module makes no decisions; a negative result is -errno and means that the bus itself failed. */
#ifndef CVAUBAN_FPRINT_H
#define CVAUBAN_FPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VAUBAN_FPRINT_TEXT_MAX 256

/* The outcome of a call. */
enum vauban_fprint_answer {
    VAUBAN_FPRINT_DONE = 0,
    /* fprintd or this sensor is no longer there. */
    VAUBAN_FPRINT_GONE,
    /* Another program uses the sensor now. */
    VAUBAN_FPRINT_IN_USE,
    VAUBAN_FPRINT_DENIED,
    /* This user has no enrolled finger. */
    VAUBAN_FPRINT_NO_PRINTS,
    /* fprintd did not answer in time. It may still carry out the call. */
    VAUBAN_FPRINT_LATE,
    VAUBAN_FPRINT_FAILED,
};

/* The kinds of signals. Everything else that a bus may carry is VAUBAN_FPRINT_OTHER. */
enum vauban_fprint_signal {
    VAUBAN_FPRINT_NOTHING = 0,
    VAUBAN_FPRINT_OTHER,
    /* The name of fprintd or of the login manager has a new owner, or none. */
    VAUBAN_FPRINT_OWNER_CHANGED,
    /* A sensor was added or removed. */
    VAUBAN_FPRINT_SENSORS_CHANGED,
    /* `text` is the sensor's result for a touch, and `flag` whether the verification is complete. */
    VAUBAN_FPRINT_VERIFY,
    VAUBAN_FPRINT_ENROLL,
    /* The machine is about to sleep or is awake again, according to `flag`. */
    VAUBAN_FPRINT_SLEEP,
};

struct vauban_fprint_sensor {
    char name[VAUBAN_FPRINT_TEXT_MAX];
    /* "press" or "swipe". */
    char kind[VAUBAN_FPRINT_TEXT_MAX];
    /* The number of touches that enrolling a finger takes; -1 if unknown. */
    int32_t touches;
};

struct vauban_bus;

/* Connects to the bus at this address, whatever the environment contains, and subscribes to fprintd's signals and to the login manager's
   signals of sleep; vauban_bus_login_owner returns the login manager's owner. vauban_bus_close closes the connection. Each call of the
   following functions takes at most TIMEOUT microseconds, except those that take one of their own. */
int vauban_fprint_open(const char *address, uint64_t timeout, struct vauban_bus **result);

/* Finds the owner of fprintd's name: 1 with its unique name (VAUBAN_BUS_NAME_MAX bytes) and uid; 0 if there is none. */
int vauban_fprint_owner(struct vauban_bus *bus, char *unique, uint32_t *uid);
/* Returns whether the bus can start fprintd: 1 or 0. */
int vauban_fprint_can_start(struct vauban_bus *bus);
/* Has the bus start fprintd: 1 if it runs now, 0 if it cannot be started. */
int vauban_fprint_start(struct vauban_bus *bus);

/* Finds fprintd's default sensor: its object path, VAUBAN_FPRINT_TEXT_MAX bytes. Returns an answer. */
int vauban_fprint_sensor(struct vauban_bus *bus, const char *owner, char *path, struct vauban_fprint_sensor *sensor);
/* Lists a user's fingers, each name followed by a newline, in at most SIZE bytes including the terminating zero. Returns an answer
   within TIMEOUT microseconds. */
int vauban_fprint_fingers(struct vauban_bus *bus, const char *owner, const char *path, const char *user, char *names, size_t size,
                          uint64_t timeout);
/* Calls a method of the sensor with one text argument, or with none if it is NULL. Returns an answer within TIMEOUT microseconds. */
int vauban_fprint_call(struct vauban_bus *bus, const char *owner, const char *path, const char *method, const char *text, uint64_t timeout);

/* Takes the next signal (an enum vauban_fprint_signal), or VAUBAN_FPRINT_NOTHING if there is none at this moment. The sender, as the bus
   daemon names it, the path and the text are valid until the next call; they may be empty. */
int vauban_fprint_next(struct vauban_bus *bus, const char **sender, const char **path, const char **text, bool *flag);
/* Waits until the bus or the descriptor is readable, at most so many microseconds (UINT64_MAX: no limit). */
int vauban_fprint_wait(struct vauban_bus *bus, int descriptor, uint64_t timeout);

#endif
