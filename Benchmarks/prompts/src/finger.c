/* A finger at the virtual sensor of an fprintd.

   finger BUS SOCKET verify USER COUNT   verifies COUNT times itself, as a program does that only needs a match
   finger BUS SOCKET touch COUNT         touches COUNT times, whenever another program waits for a finger

   Prints one line for each touch: when it was made, and when fprintd's signal of a match arrived on the bus. */
#include "now.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#define FPRINT "net.reactivated.Fprint"
#define DEVICE FPRINT ".Device"
#define SECONDS_MAX 30

static sd_bus *bus;
static char *device;
static const char *sensor;
static bool needed, heard;
static uint64_t heard_at;

static void fail(const char *what) {
    fprintf(stderr, "finger: %s\n", what);
    exit(1);
}

static int on_verify(sd_bus_message *message, void *data, sd_bus_error *error) {
    const char *text;
    (void)data, (void)error;
    heard_at = now_ns();
    if (sd_bus_message_read(message, "s", &text) < 0 || strcmp(text, "verify-match") != 0) fail("it is no match");
    heard = true;
    return 0;
}

static int on_changed(sd_bus_message *message, void *data, sd_bus_error *error) {
    const char *interface, *name;
    (void)data, (void)error;
    if (sd_bus_message_read(message, "s", &interface) < 0 || strcmp(interface, DEVICE) != 0) return 0;
    if (sd_bus_message_enter_container(message, 'a', "{sv}") < 0) return 0;
    while (sd_bus_message_enter_container(message, 'e', "sv") > 0) {
        if (sd_bus_message_read(message, "s", &name) < 0) return 0;
        int flag;
        if (strcmp(name, "finger-needed") == 0 && sd_bus_message_read(message, "v", "b", &flag) >= 0) needed = flag;
        else sd_bus_message_skip(message, "v");
        sd_bus_message_exit_container(message);
    }
    return 0;
}

/* Waits until the flag is set. Queries a sensor that sends nothing at intervals. */
static void until(bool *flag) {
    uint64_t end = now_ns() + SECONDS_MAX * 1000000000ull;
    while (!*flag) {
        int did = sd_bus_process(bus, NULL);
        if (did < 0) fail("the bus is gone");
        if (did > 0) continue;
        if (now_ns() > end) fail("nothing came");
        int woke = sd_bus_wait(bus, 500000);
        int is_needed;
        if (woke == 0 && flag == &needed && sd_bus_get_property_trivial(bus, FPRINT, device, DEVICE, "finger-needed", NULL, 'b', &is_needed) >= 0)
            needed = is_needed;
    }
}

static void touch(void) {
    static const char command[] = "SCAN alice";
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, sensor, sizeof address.sun_path - 1);
    until(&needed);
    needed = heard = false;
    uint64_t touched_at = now_ns();
    int line = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (line < 0 || connect(line, (struct sockaddr *)&address, sizeof address) < 0 || write(line, command, strlen(command)) < 0) fail("the sensor takes no touch");
    close(line);
    until(&heard);
    printf("%llu %llu\n", (unsigned long long)touched_at, (unsigned long long)heard_at);
    fflush(stdout);
}

static void call(const char *method, const char *word) {
    sd_bus_error error = SD_BUS_ERROR_NULL;
    int answer = word ? sd_bus_call_method(bus, FPRINT, device, DEVICE, method, &error, NULL, "s", word)
                      : sd_bus_call_method(bus, FPRINT, device, DEVICE, method, &error, NULL, "");
    if (answer < 0) fail(error.message ? error.message : method);
}

int main(int count, char **words) {
    if (count < 5) fail("finger BUS SOCKET verify USER COUNT | touch COUNT");
    sensor = words[2];
    if (sd_bus_new(&bus) < 0 || sd_bus_set_address(bus, words[1]) < 0 || sd_bus_set_bus_client(bus, 1) < 0 || sd_bus_start(bus) < 0) fail("there is no bus");
    sd_bus_message *answer;
    const char *path;
    if (sd_bus_call_method(bus, FPRINT, "/net/reactivated/Fprint/Manager", FPRINT ".Manager", "GetDefaultDevice", NULL, &answer, "") < 0 ||
        sd_bus_message_read(answer, "o", &path) < 0)
        fail("fprintd has no sensor");
    device = strdup(path);
    if (sd_bus_match_signal(bus, NULL, FPRINT, device, DEVICE, "VerifyStatus", on_verify, NULL) < 0 ||
        sd_bus_match_signal(bus, NULL, FPRINT, device, "org.freedesktop.DBus.Properties", "PropertiesChanged", on_changed, NULL) < 0)
        fail("nothing can be heard");
    if (strcmp(words[3], "touch") == 0) {
        for (int left = atoi(words[4]); left > 0; left--) touch();
    } else {
        call("Claim", words[4]);
        for (int left = atoi(words[5]); left > 0; left--) {
            needed = false;
            call("VerifyStart", "any");
            touch();
            call("VerifyStop", NULL);
        }
        call("Release", NULL);
    }
    sd_bus_flush_close_unref(bus);
}
