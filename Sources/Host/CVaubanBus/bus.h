/* Shared by the two users of the bus. Not exported to Swift. */
#ifndef VAUBAN_BUS_INTERNAL_H
#define VAUBAN_BUS_INTERNAL_H

#include "CVaubanBus.h"

#include <systemd/sd-bus.h>

#define DAEMON "org.freedesktop.DBus"
#define DAEMON_PATH "/org/freedesktop/DBus"
#define PROPERTIES DAEMON ".Properties"
#define LOGIN "org.freedesktop.login1"
#define LOGIN_MANAGER LOGIN ".Manager"
#define SLEEP_MATCH "type='signal',sender='" LOGIN "',interface='" LOGIN_MANAGER "',member='PrepareForSleep'"
#define OWNER_MATCH(NAME) "type='signal',sender='" DAEMON "',interface='" DAEMON "',member='NameOwnerChanged',arg0='" NAME "'"

struct vauban_bus {
    sd_bus *bus;
    /* The last signal that was taken. Callers borrow its sender, path and text. */
    sd_bus_message *taken;
};

int vauban_bus_connect(const char *address, uint64_t timeout, const char *const *matches, size_t count, struct vauban_bus **result);
/* Finds the owner of a name: 1 with the unique name and uid, 0 if there is none. */
int vauban_bus_owner(struct vauban_bus *bus, const char *well_known, char *unique, uint32_t *uid);
/* Returns whether a reply comes from the process that was called. */
int vauban_bus_from_owner(sd_bus_message *reply, const char *owner);
/* Reads a property in a variant of this type. The caller reads the value from the reply and releases that. */
int vauban_bus_property(struct vauban_bus *bus, const char *owner, const char *path, const char *interface, const char *name,
                        const char *type, sd_bus_message **reply);

#endif
