// A client of the Secret Service for a sandbox, where libsecret would use a file instead. It uses GLib, since sd-bus does not work with flatpak's
// proxy.
//
//   store SERVICE SECRET    adds an item with the attribute service
//   read SERVICE            prints `secret SECRET`, `locked` or `none`
//   ask SERVICE             the same, after the prompt for a locked one
#include <gio/gio.h>
#include <stdio.h>
#include <string.h>

#define ROOT "/org/freedesktop/secrets"
#define API "org.freedesktop.Secret."

static GDBusConnection *bus;

static GVariant *call(const char *path, const char *interface, const char *member, GVariant *arguments) {
    GError *error = NULL;
    GVariant *answer = g_dbus_connection_call_sync(bus, "org.freedesktop.secrets", path, interface, member, arguments, NULL, 0, -1, NULL, &error);
    if (!answer) {
        fprintf(stderr, "%s: %s\n", member, error->message);
        exit(1);
    }
    return answer;
}

static const char *session(void) {
    const char *path;
    g_variant_get(call(ROOT, API "Service", "OpenSession", g_variant_new("(sv)", "plain", g_variant_new_string(""))), "(v&o)", NULL, &path);
    return path;
}

static GVariant *attributes(const char *service) { return g_variant_new_parsed("{'service': %s}", service); }

static void store(const char *service, const char *secret) {
    GVariant *bytes = g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE, secret, strlen(secret), 1);
    GVariant *none = g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE, "", 0, 1);
    GVariant *properties = g_variant_new_parsed("{'" API "Item.Label': <%s>, '" API "Item.Attributes': <%*>}", service, attributes(service));
    call(ROOT "/collection/login", API "Collection", "CreateItem",
         g_variant_new("(@a{sv}(o@ay@ays)b)", properties, session(), none, bytes, "text/plain", FALSE));
}

// Returns the first item that is unlocked, or locked; NULL if there is none.
static const char *found(const char *service, gboolean locked) {
    GVariant *answer = call(ROOT, API "Service", "SearchItems", g_variant_new("(@a{ss})", attributes(service)));
    GVariant *paths = g_variant_get_child_value(answer, locked ? 1 : 0);
    return g_variant_n_children(paths) ? g_variant_get_string(g_variant_get_child_value(paths, 0), NULL) : NULL;
}

static void completed(GDBusConnection *from, const char *sender, const char *path, const char *interface, const char *signal, GVariant *values,
                      void *loop) {
    g_main_loop_quit(loop);
}

static void ask(const char *item) {
    GMainLoop *loop = g_main_loop_new(NULL, FALSE);
    const char *prompt;
    GVariant *answer = call(ROOT, API "Service", "Unlock", g_variant_new_parsed("([%o],)", item));
    g_variant_get_child(answer, 1, "&o", &prompt);
    g_dbus_connection_signal_subscribe(bus, NULL, API "Prompt", "Completed", prompt, NULL, 0, completed, loop, NULL);
    call(prompt, API "Prompt", "Prompt", g_variant_new("(s)", ""));
    g_main_loop_run(loop);
}

int main(int argc, char **argv) {
    bus = g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, NULL);
    if (argc < 3 || !bus) return 2;
    if (argc == 4 && !strcmp(argv[1], "store")) {
        store(argv[2], argv[3]);
        return 0;
    }
    const char *locked = found(argv[2], TRUE);
    if (locked && !strcmp(argv[1], "ask")) ask(locked);
    const char *item = found(argv[2], FALSE);
    if (!item) return puts(found(argv[2], TRUE) ? "locked" : "none") < 0;
    GVariant *answer = g_variant_get_child_value(call(item, API "Item", "GetSecret", g_variant_new("(o)", session())), 0);
    gsize count;
    const char *secret = g_variant_get_fixed_array(g_variant_get_child_value(answer, 2), &count, 1);
    return printf("secret %.*s\n", (int)count, secret) < 0;
}
