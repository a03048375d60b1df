/* fprintd on the message bus. Nothing here decides anything; a negative result is -errno and says that the bus itself failed. */
#ifndef CVAUBAN_FPRINT_H
#define CVAUBAN_FPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VAUBAN_FPRINT_TEXT_MAX 256

/* How a call ended. */
enum vauban_fprint_answer {
    VAUBAN_FPRINT_DONE = 0,
    /* fprintd is not there any more, or this sensor is not. */
    VAUBAN_FPRINT_GONE,
    /* Another program has the sensor at this moment. */
    VAUBAN_FPRINT_IN_USE,
    VAUBAN_FPRINT_DENIED,
    /* This user has no enrolled finger. */
    VAUBAN_FPRINT_NO_PRINTS,
    VAUBAN_FPRINT_FAILED,
};

/* What a signal says. Everything else that a bus may carry is VAUBAN_FPRINT_OTHER. */
enum vauban_fprint_signal {
    VAUBAN_FPRINT_NOTHING = 0,
    VAUBAN_FPRINT_OTHER,
    /* The name of fprintd or of the login manager has another owner now, or none. */
    VAUBAN_FPRINT_OWNER_CHANGED,
    /* A sensor came or went. */
    VAUBAN_FPRINT_SENSORS_CHANGED,
    /* `text` is what the sensor says of a touch, and `flag` whether it is done with it. */
    VAUBAN_FPRINT_VERIFY,
    VAUBAN_FPRINT_ENROL,
    /* The machine is about to sleep, or is back; `flag` says which. */
    VAUBAN_FPRINT_SLEEP,
};

struct vauban_fprint_sensor {
    char name[VAUBAN_FPRINT_TEXT_MAX];
    /* "press" or "swipe". */
    char kind[VAUBAN_FPRINT_TEXT_MAX];
    /* Touches that a finger takes to be learnt; -1 while that is not known. */
    int32_t touches;
};

struct vauban_bus;

/* Connects to the bus at this address, whatever the environment says, and asks for fprintd's signals and for the login
   manager's words of sleep, whose owner vauban_bus_login_owner names. Closed by vauban_bus_close. Each call of the
   following functions ends after TIMEOUT microseconds, but for vauban_fprint_call. */
int vauban_fprint_open(const char *address, uint64_t timeout, struct vauban_bus **result);

/* Who owns fprintd's name: 1 with its unique name (VAUBAN_BUS_NAME_MAX bytes) and uid; 0 when nobody does. */
int vauban_fprint_owner(struct vauban_bus *bus, char *unique, uint32_t *uid);
/* Whether the bus can start it: 1 or 0. */
int vauban_fprint_can_start(struct vauban_bus *bus);
/* Has the bus start it: 1 when it runs now, 0 when it cannot be started. */
int vauban_fprint_start(struct vauban_bus *bus);

/* The sensor that fprintd calls the default one: its object path, VAUBAN_FPRINT_TEXT_MAX bytes. An answer. */
int vauban_fprint_sensor(struct vauban_bus *bus, const char *owner, char *path, struct vauban_fprint_sensor *sensor);
/* The names of a user's fingers, each followed by a newline, in at most SIZE bytes with the zero at the end. An answer. */
int vauban_fprint_fingers(struct vauban_bus *bus, const char *owner, const char *path, const char *user, char *names, size_t size);
/* Calls a method of the sensor with one text, or none where it is NULL. An answer, after TIMEOUT microseconds at the latest. */
int vauban_fprint_call(struct vauban_bus *bus, const char *owner, const char *path, const char *method, const char *text, uint64_t timeout);

/* Takes what came: one signal (an enum vauban_fprint_signal), or VAUBAN_FPRINT_NOTHING when there is no more at this moment. The
   sender (in the bus daemon's words), the path and the text are valid until the next call; they may be empty. */
int vauban_fprint_next(struct vauban_bus *bus, const char **sender, const char **path, const char **text, bool *flag);
/* Waits until something comes on the bus or on the descriptor, at most so many microseconds (UINT64_MAX: without end). */
int vauban_fprint_wait(struct vauban_bus *bus, int descriptor, uint64_t timeout);

#endif
