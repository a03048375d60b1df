#define _GNU_SOURCE
#include "bus.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define LOGIN_PATH "/org/freedesktop/login1"
#define MANAGER LOGIN_MANAGER
#define SESSION LOGIN ".Session"

static const char *const matches[] = {
    OWNER_MATCH(LOGIN),
    SLEEP_MATCH,
    "type='signal',sender='" LOGIN "',interface='" MANAGER "',member='PrepareForShutdown'",
    "type='signal',sender='" LOGIN "',interface='" SESSION "',member='Lock'",
    "type='signal',sender='" LOGIN "',interface='" SESSION "',member='Unlock'",
    "type='signal',sender='" LOGIN "',interface='" PROPERTIES "',member='PropertiesChanged',arg0='" SESSION "'",
};

void vauban_bus_close(struct vauban_bus *bus) {
    if (!bus) return;
    sd_bus_message_unref(bus->taken);
    sd_bus_close_unref(bus->bus);
    free(bus);
}

static int prepare(sd_bus *bus, const char *address, uint64_t timeout, const char *const *matches, size_t count) {
    int r = sd_bus_set_address(bus, address);
    if (r >= 0) r = sd_bus_set_bus_client(bus, true);
    if (r >= 0) r = sd_bus_set_method_call_timeout(bus, timeout);
    if (r >= 0) r = sd_bus_start(bus);
    for (size_t i = 0; r >= 0 && i < count; i++)
        r = sd_bus_call_method(bus, DAEMON, DAEMON_PATH, DAEMON, "AddMatch", NULL, NULL, "s", matches[i]);
    return r;
}

int vauban_bus_connect(const char *address, uint64_t timeout, const char *const *matches, size_t count, struct vauban_bus **result) {
    struct vauban_bus *bus = calloc(1, sizeof *bus);
    if (!bus) return -ENOMEM;
    int r = sd_bus_new(&bus->bus);
    if (r >= 0) r = prepare(bus->bus, address, timeout, matches, count);
    if (r < 0) {
        vauban_bus_close(bus);
        return r;
    }
    *result = bus;
    return 0;
}

int vauban_bus_open(const char *address, uint64_t timeout, struct vauban_bus **result) {
    return vauban_bus_connect(address, timeout, matches, sizeof matches / sizeof *matches, result);
}

int vauban_bus_login_owner(struct vauban_bus *bus, char *unique, uint32_t *uid) {
    return vauban_bus_owner(bus, LOGIN, unique, uid);
}

int vauban_bus_owner(struct vauban_bus *bus, const char *well_known, char *unique, uint32_t *uid) {
    sd_bus_error error = SD_BUS_ERROR_NULL;
    sd_bus_message *reply = NULL;
    const char *name;
    int r = sd_bus_call_method(bus->bus, DAEMON, DAEMON_PATH, DAEMON, "GetNameOwner", &error, &reply, "s", well_known);
    bool nobody = r < 0 && sd_bus_error_has_name(&error, SD_BUS_ERROR_NAME_HAS_NO_OWNER);
    if (r >= 0) r = sd_bus_message_read(reply, "s", &name);
    if (r >= 0 && strlen(name) >= VAUBAN_BUS_NAME_MAX) r = -EMSGSIZE;
    if (r >= 0) strcpy(unique, name);
    sd_bus_error_free(&error);
    sd_bus_message_unref(reply);
    reply = NULL;
    if (nobody) return 0;
    if (r < 0) return r;
    /* A unique name is never reused, so the reply concerns this owner, or is an error if the owner has left. */
    r = sd_bus_call_method(bus->bus, DAEMON, DAEMON_PATH, DAEMON, "GetConnectionUnixUser", &error, &reply, "s", unique);
    nobody = r < 0 && sd_bus_error_has_name(&error, SD_BUS_ERROR_NAME_HAS_NO_OWNER);
    if (r >= 0) r = sd_bus_message_read(reply, "u", uid);
    sd_bus_error_free(&error);
    sd_bus_message_unref(reply);
    return nobody ? 0 : r < 0 ? r : 1;
}

/* Returns whether a reply comes from the process that was called. */
int vauban_bus_from_owner(sd_bus_message *reply, const char *owner) {
    const char *sender = sd_bus_message_get_sender(reply);
    return sender && strcmp(sender, owner) == 0 ? 0 : -EBADMSG;
}

int vauban_bus_property(struct vauban_bus *bus, const char *owner, const char *path, const char *interface, const char *name,
                        const char *type, sd_bus_message **reply) {
    int r = sd_bus_call_method(bus->bus, owner, path, PROPERTIES, "Get", NULL, reply, "ss", interface, name);
    if (r >= 0) r = vauban_bus_from_owner(*reply, owner);
    if (r >= 0) r = sd_bus_message_enter_container(*reply, 'v', type);
    return r;
}

int vauban_bus_is_preparing_for_sleep(struct vauban_bus *bus, const char *owner) {
    sd_bus_message *reply = NULL;
    int value = 0;
    int r = vauban_bus_property(bus, owner, LOGIN_PATH, MANAGER, "PreparingForSleep", "b", &reply);
    if (r >= 0) r = sd_bus_message_read(reply, "b", &value);
    sd_bus_message_unref(reply);
    return r < 0 ? r : value != 0;
}

int vauban_bus_delay_sleep(struct vauban_bus *bus, const char *owner, const char *who, const char *why) {
    sd_bus_message *reply = NULL;
    int lent;
    int r = sd_bus_call_method(bus->bus, owner, LOGIN_PATH, MANAGER, "Inhibit", NULL, &reply, "ssss", "sleep", who, why, "delay");
    if (r >= 0) r = vauban_bus_from_owner(reply, owner);
    if (r >= 0) r = sd_bus_message_read(reply, "h", &lent);
    /* The reply owns the descriptor. */
    if (r >= 0) {
        r = fcntl(lent, F_DUPFD_CLOEXEC, 3);
        if (r < 0) r = -errno;
    }
    sd_bus_message_unref(reply);
    return r;
}

int vauban_bus_session_user(struct vauban_bus *bus, const char *owner, const char *session, uint32_t *uid) {
    sd_bus_message *reply = NULL;
    const char *path;
    int r = vauban_bus_property(bus, owner, session, SESSION, "User", "(uo)", &reply);
    if (r >= 0) r = sd_bus_message_read(reply, "(uo)", uid, &path);
    /* A container that ends before the pair is not a valid reply either. */
    if (r == 0) r = -EBADMSG;
    sd_bus_message_unref(reply);
    return r < 0 ? r : 0;
}

/* Finds LockedHint among the changed properties. logind always includes its value. */
static int read_locked_hint(sd_bus_message *message, bool *flag) {
    const char *interface, *name;
    int found = 0;
    int r = sd_bus_message_read(message, "s", &interface);
    if (r <= 0 || strcmp(interface, SESSION) != 0) return r < 0 ? r : 0;
    r = sd_bus_message_enter_container(message, 'a', "{sv}");
    while (r > 0 && (r = sd_bus_message_enter_container(message, 'e', "sv")) > 0) {
        r = sd_bus_message_read(message, "s", &name);
        if (r > 0 && strcmp(name, "LockedHint") == 0) {
            int value = 0;
            r = sd_bus_message_read(message, "v", "b", &value);
            *flag = value != 0;
            found = 1;
        } else if (r > 0) {
            r = sd_bus_message_skip(message, "v");
        }
        if (r >= 0) r = sd_bus_message_exit_container(message);
        if (r >= 0) r = 1;
    }
    return r < 0 ? r : found;
}

static enum vauban_bus_signal meaning(sd_bus_message *message, bool *flag) {
    if (sd_bus_message_is_signal(message, DAEMON, "NameOwnerChanged")) return VAUBAN_BUS_OWNER_CHANGED;
    if (sd_bus_message_is_signal(message, MANAGER, "PrepareForSleep") ||
        sd_bus_message_is_signal(message, MANAGER, "PrepareForShutdown")) {
        int value = 0;
        if (sd_bus_message_read(message, "b", &value) <= 0) return VAUBAN_BUS_OTHER;
        *flag = value != 0;
        return VAUBAN_BUS_PREPARE;
    }
    if (sd_bus_message_is_signal(message, SESSION, "Lock")) return VAUBAN_BUS_SESSION_LOCK;
    if (sd_bus_message_is_signal(message, SESSION, "Unlock")) return VAUBAN_BUS_SESSION_UNLOCK;
    if (sd_bus_message_is_signal(message, PROPERTIES, "PropertiesChanged") && read_locked_hint(message, flag) > 0)
        return VAUBAN_BUS_LOCKED_HINT;
    return VAUBAN_BUS_OTHER;
}

int vauban_bus_next(struct vauban_bus *bus, const char **sender, const char **path, bool *flag) {
    sd_bus_message_unref(bus->taken);
    bus->taken = NULL;
    *sender = *path = "";
    *flag = false;
    int r = sd_bus_process(bus->bus, &bus->taken);
    if (r < 0) return r;
    if (!bus->taken) return r > 0 ? VAUBAN_BUS_OTHER : VAUBAN_BUS_NOTHING;
    const char *text = sd_bus_message_get_sender(bus->taken);
    if (text) *sender = text;
    text = sd_bus_message_get_path(bus->taken);
    if (text) *path = text;
    return meaning(bus->taken, flag);
}

int vauban_bus_wait(struct vauban_bus *bus, uint64_t timeout) {
    int r = sd_bus_wait(bus->bus, timeout);
    return r == -EINTR ? 0 : r;
}
