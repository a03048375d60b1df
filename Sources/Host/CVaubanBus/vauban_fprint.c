#define _GNU_SOURCE
#include "bus.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#define FPRINT "net.reactivated.Fprint"
#define MANAGER_PATH "/net/reactivated/Fprint/Manager"
#define MANAGER FPRINT ".Manager"
#define DEVICE FPRINT ".Device"
#define FAULT FPRINT ".Error."
#define OBJECTS DAEMON ".ObjectManager"

static const char *const matches[] = {
    OWNER_MATCH(FPRINT),
    "type='signal',sender='" FPRINT "',interface='" DEVICE "'",
    "type='signal',sender='" FPRINT "',interface='" OBJECTS "'",
    OWNER_MATCH(LOGIN),
    SLEEP_MATCH,
};

int vauban_fprint_open(const char *address, uint64_t timeout, struct vauban_bus **result) {
    return vauban_bus_connect(address, timeout, matches, sizeof matches / sizeof *matches, result);
}

int vauban_fprint_owner(struct vauban_bus *bus, char *unique, uint32_t *uid) { return vauban_bus_owner(bus, FPRINT, unique, uid); }

int vauban_fprint_can_start(struct vauban_bus *bus) {
    sd_bus_message *reply = NULL;
    const char *name;
    int found = 0;
    int r = sd_bus_call_method(bus->bus, DAEMON, DAEMON_PATH, DAEMON, "ListActivatableNames", NULL, &reply, NULL);
    if (r >= 0) r = sd_bus_message_enter_container(reply, 'a', "s");
    while (r >= 0 && (r = sd_bus_message_read(reply, "s", &name)) > 0)
        if (strcmp(name, FPRINT) == 0) found = 1;
    sd_bus_message_unref(reply);
    return r < 0 ? r : found;
}

/* Returns whether the bus itself failed, and not the called process. */
static bool is_of_bus(int r) { return r == -ENOTCONN || r == -ECONNRESET || r == -EPIPE || r == -ESHUTDOWN || r == -ESTALE || r == -ECHILD; }

int vauban_fprint_start(struct vauban_bus *bus) {
    int r = sd_bus_call_method(bus->bus, DAEMON, DAEMON_PATH, DAEMON, "StartServiceByName", NULL, NULL, "su", FPRINT, (uint32_t)0);
    return r >= 0 ? 1 : is_of_bus(r) ? r : 0;
}

static int answer(int r, const sd_bus_error *error) {
    static const struct { const char *name; int answer; } known[] = {
        {FAULT "AlreadyInUse", VAUBAN_FPRINT_IN_USE},          {FAULT "NoSuchDevice", VAUBAN_FPRINT_GONE},
        {FAULT "PermissionDenied", VAUBAN_FPRINT_DENIED},      {FAULT "NoEnrolledPrints", VAUBAN_FPRINT_NO_PRINTS},
        {SD_BUS_ERROR_ACCESS_DENIED, VAUBAN_FPRINT_DENIED},    {SD_BUS_ERROR_NO_REPLY, VAUBAN_FPRINT_GONE},
        {SD_BUS_ERROR_SERVICE_UNKNOWN, VAUBAN_FPRINT_GONE},    {SD_BUS_ERROR_NAME_HAS_NO_OWNER, VAUBAN_FPRINT_GONE},
        {SD_BUS_ERROR_UNKNOWN_OBJECT, VAUBAN_FPRINT_GONE},     {SD_BUS_ERROR_UNKNOWN_METHOD, VAUBAN_FPRINT_GONE},
        {SD_BUS_ERROR_UNKNOWN_INTERFACE, VAUBAN_FPRINT_GONE},
    };
    if (r >= 0) return VAUBAN_FPRINT_DONE;
    if (is_of_bus(r)) return r;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (sd_bus_error_has_name(error, known[i].name)) return known[i].answer;
    return r == -ETIMEDOUT ? VAUBAN_FPRINT_LATE : VAUBAN_FPRINT_FAILED;
}

static int copied(char *place, const char *text) {
    if (strlen(text) >= VAUBAN_FPRINT_TEXT_MAX) return -EMSGSIZE;
    strcpy(place, text);
    return 0;
}

static int text_property(struct vauban_bus *bus, const char *owner, const char *path, const char *name, char *place) {
    sd_bus_message *reply = NULL;
    const char *text = "";
    int r = vauban_bus_property(bus, owner, path, DEVICE, name, "s", &reply);
    if (r >= 0) r = sd_bus_message_read(reply, "s", &text);
    if (r >= 0) r = copied(place, text);
    sd_bus_message_unref(reply);
    return r;
}

int vauban_fprint_sensor(struct vauban_bus *bus, const char *owner, char *path, struct vauban_fprint_sensor *sensor) {
    sd_bus_error error = SD_BUS_ERROR_NULL;
    sd_bus_message *reply = NULL;
    const char *found = "";
    int r = sd_bus_call_method(bus->bus, owner, MANAGER_PATH, MANAGER, "GetDefaultDevice", &error, &reply, NULL);
    if (r >= 0) r = vauban_bus_from_owner(reply, owner);
    if (r >= 0) r = sd_bus_message_read(reply, "o", &found);
    if (r >= 0) r = copied(path, found);
    sd_bus_message_unref(reply);
    reply = NULL;
    if (r >= 0) r = text_property(bus, owner, path, "name", sensor->name);
    if (r >= 0) r = text_property(bus, owner, path, "scan-type", sensor->kind);
    if (r >= 0) r = vauban_bus_property(bus, owner, path, DEVICE, "num-enroll-stages", "i", &reply);
    if (r >= 0) r = sd_bus_message_read(reply, "i", &sensor->touches);
    sd_bus_message_unref(reply);
    r = answer(r, &error);
    sd_bus_error_free(&error);
    return r;
}

int vauban_fprint_fingers(struct vauban_bus *bus, const char *owner, const char *path, const char *user, char *names, size_t size,
                          uint64_t timeout) {
    sd_bus_error error = SD_BUS_ERROR_NULL;
    sd_bus_message *call = NULL, *reply = NULL;
    const char *name;
    size_t used = 0;
    *names = 0;
    int r = sd_bus_message_new_method_call(bus->bus, &call, owner, path, DEVICE, "ListEnrolledFingers");
    if (r >= 0) r = sd_bus_message_append(call, "s", user);
    if (r >= 0) r = sd_bus_call(bus->bus, call, timeout, &error, &reply);
    if (r >= 0) r = vauban_bus_from_owner(reply, owner);
    if (r >= 0) r = sd_bus_message_enter_container(reply, 'a', "s");
    while (r >= 0 && (r = sd_bus_message_read(reply, "s", &name)) > 0) {
        size_t length = strlen(name);
        if (used + length + 2 > size) { r = -EMSGSIZE; break; }
        memcpy(names + used, name, length);
        names[used + length] = '\n';
        names[used += length + 1] = 0;
    }
    sd_bus_message_unref(call);
    sd_bus_message_unref(reply);
    r = answer(r, &error);
    sd_bus_error_free(&error);
    return r;
}

int vauban_fprint_call(struct vauban_bus *bus, const char *owner, const char *path, const char *method, const char *text, uint64_t timeout) {
    sd_bus_error error = SD_BUS_ERROR_NULL;
    sd_bus_message *call = NULL, *reply = NULL;
    int r = sd_bus_message_new_method_call(bus->bus, &call, owner, path, DEVICE, method);
    if (r >= 0 && text) r = sd_bus_message_append(call, "s", text);
    if (r >= 0) r = sd_bus_call(bus->bus, call, timeout, &error, &reply);
    if (r >= 0) r = vauban_bus_from_owner(reply, owner);
    sd_bus_message_unref(call);
    sd_bus_message_unref(reply);
    r = answer(r, &error);
    sd_bus_error_free(&error);
    return r;
}

static enum vauban_fprint_signal meaning(sd_bus_message *message, const char **text, bool *flag) {
    if (sd_bus_message_is_signal(message, DAEMON, "NameOwnerChanged")) return VAUBAN_FPRINT_OWNER_CHANGED;
    if (sd_bus_message_is_signal(message, OBJECTS, "InterfacesAdded") ||
        sd_bus_message_is_signal(message, OBJECTS, "InterfacesRemoved"))
        return VAUBAN_FPRINT_SENSORS_CHANGED;
    int value = 0;
    if (sd_bus_message_is_signal(message, LOGIN_MANAGER, "PrepareForSleep")) {
        if (sd_bus_message_read(message, "b", &value) <= 0) return VAUBAN_FPRINT_OTHER;
        *flag = value != 0;
        return VAUBAN_FPRINT_SLEEP;
    }
    bool verify = sd_bus_message_is_signal(message, DEVICE, "VerifyStatus") > 0;
    if (!verify && sd_bus_message_is_signal(message, DEVICE, "EnrollStatus") <= 0) return VAUBAN_FPRINT_OTHER;
    if (sd_bus_message_read(message, "sb", text, &value) <= 0) return VAUBAN_FPRINT_OTHER;
    *flag = value != 0;
    return verify ? VAUBAN_FPRINT_VERIFY : VAUBAN_FPRINT_ENROLL;
}

int vauban_fprint_next(struct vauban_bus *bus, const char **sender, const char **path, const char **text, bool *flag) {
    sd_bus_message_unref(bus->taken);
    bus->taken = NULL;
    *sender = *path = *text = "";
    *flag = false;
    int r = sd_bus_process(bus->bus, &bus->taken);
    if (r < 0) return r;
    if (!bus->taken) return r > 0 ? VAUBAN_FPRINT_OTHER : VAUBAN_FPRINT_NOTHING;
    const char *found = sd_bus_message_get_sender(bus->taken);
    if (found) *sender = found;
    found = sd_bus_message_get_path(bus->taken);
    if (found) *path = found;
    return meaning(bus->taken, text, flag);
}

int vauban_fprint_wait(struct vauban_bus *bus, int descriptor, uint64_t timeout) {
    /* Messages that arrived with a reply are already in memory, where poll does not report them. */
    uint64_t waiting = 0;
    int r = sd_bus_get_n_queued_read(bus->bus, &waiting);
    if (r < 0 || waiting > 0) return r < 0 ? r : 0;
    int number = sd_bus_get_fd(bus->bus);
    if (number < 0) return number;
    int events = sd_bus_get_events(bus->bus);
    if (events < 0) return events;
    struct pollfd pollers[] = {{.fd = number, .events = (short)events}, {.fd = descriptor, .events = POLLIN}};
    struct timespec left = {.tv_sec = (time_t)(timeout / 1000000), .tv_nsec = (long)(timeout % 1000000) * 1000};
    r = ppoll(pollers, 2, timeout == UINT64_MAX ? NULL : &left, NULL);
    return r < 0 && errno != EINTR ? -errno : 0;
}
