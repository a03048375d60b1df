/* What a message bus itself costs, and what one Secret Service call adds to it.
 *
 *   echo                             answers Ping of org.example.Echo: the other end of a round trip
 *   ping  --reps R                   calls it
 *   read  --n N --reps R             GetSecret of items whose paths are known
 */
#include "common.h"
#include <systemd/sd-bus.h>

#define ECHO "org.example.Echo"
#define SECRETS "org.freedesktop.secrets"
#define SERVICE "org.freedesktop.Secret.Service"

static sd_bus *bus;

static long number(int argc, char **argv, const char *name, long otherwise) {
    for (int i = 2; i + 1 < argc; i++)
        if (!strcmp(argv[i], name)) return atol(argv[i + 1]);
    return otherwise;
}

static int on_ping(sd_bus_message *m, void *data, sd_bus_error *error) { return sd_bus_reply_method_return(m, NULL); }

static const sd_bus_vtable echo_methods[] = {
    SD_BUS_VTABLE_START(0), SD_BUS_METHOD("Ping", NULL, NULL, on_ping, SD_BUS_VTABLE_UNPRIVILEGED), SD_BUS_VTABLE_END};

static int echo(void) {
    if (sd_bus_add_object_vtable(bus, NULL, "/", ECHO, echo_methods, NULL) < 0 || sd_bus_request_name(bus, ECHO, 0) < 0) return 1;
    for (;;) {
        int rc = sd_bus_process(bus, NULL);
        if (rc < 0 || (rc == 0 && sd_bus_wait(bus, UINT64_MAX) < 0)) return 1;
    }
}

static int ping(long reps) {
    struct lat l = {0};
    for (long i = 0; i < reps; i++) {
        sd_bus_message *reply = NULL;
        uint64_t began = now_ns();
        int rc = sd_bus_call_method(bus, ECHO, "/", ECHO, "Ping", NULL, &reply, NULL);
        lat_add(&l, now_ns() - began);
        sd_bus_message_unref(reply);
        if (rc < 0) return 1;
    }
    printf("{");
    lat_json(stdout, "ping", &l);
    printf("}\n");
    return 0;
}

static char *copied(sd_bus_message *m) {
    const char *text;
    return sd_bus_message_read(m, "o", &text) > 0 ? strdup(text) : NULL;
}

static char *open_session(void) {
    sd_bus_message *reply = NULL;
    if (sd_bus_call_method(bus, SECRETS, "/org/freedesktop/secrets", SERVICE, "OpenSession", NULL, &reply, "sv", "plain", "s", "") < 0) return NULL;
    char *session = sd_bus_message_skip(reply, "v") < 0 ? NULL : copied(reply);
    sd_bus_message_unref(reply);
    return session;
}

static char *find(const struct item *it) {
    sd_bus_message *reply = NULL;
    if (sd_bus_call_method(bus, SECRETS, "/org/freedesktop/secrets", SERVICE, "SearchItems", NULL, &reply, "a{ss}", 2, "service", ITEM_SERVICE,
                           "account", it->account) < 0) return NULL;
    char *path = sd_bus_message_enter_container(reply, 'a', "o") < 0 ? NULL : copied(reply);
    sd_bus_message_unref(reply);
    return path;
}

static int is_secret(sd_bus_message *m, const struct item *it) {
    const void *bytes;
    size_t count;
    return sd_bus_message_enter_container(m, 'r', "oayays") > 0 && sd_bus_message_skip(m, "oay") >= 0 &&
           sd_bus_message_read_array(m, 'y', &bytes, &count) >= 0 && count == SECRET_LEN && !memcmp(bytes, it->secret, count);
}

static int read_secrets(long n, long reps) {
    enum { KNOWN = 64 };
    char *session = open_session(), *paths[KNOWN];
    struct item items[KNOWN];
    struct lat l = {0};
    if (!session) return 1;
    for (int i = 0; i < KNOWN; i++) {
        item_make(&items[i], (long)(mix64((uint64_t)i) % (uint64_t)n), 0);
        if (!(paths[i] = find(&items[i]))) return 1;
    }
    for (long i = 0; i < reps; i++) {
        sd_bus_message *reply = NULL;
        uint64_t began = now_ns();
        int rc = sd_bus_call_method(bus, SECRETS, paths[i % KNOWN], "org.freedesktop.Secret.Item", "GetSecret", NULL, &reply, "o", session);
        lat_add(&l, now_ns() - began);
        /* A wrong answer is an error, never a fast answer. */
        if (rc < 0 || !is_secret(reply, &items[i % KNOWN])) return 1;
        sd_bus_message_unref(reply);
    }
    printf("{");
    lat_json(stdout, "read", &l);
    printf("}\n");
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 2 || sd_bus_open_user(&bus) < 0) return 2;
    long reps = number(argc, argv, "--reps", 1000);
    if (!strcmp(argv[1], "echo")) return echo();
    if (!strcmp(argv[1], "ping")) return ping(reps);
    if (!strcmp(argv[1], "read")) return read_secrets(number(argc, argv, "--n", 1000), reps);
    return 2;
}
