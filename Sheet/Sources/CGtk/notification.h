// A desktop notification (org.freedesktop.Notifications), for a prompt that the user cannot see and for the use of a canary item. The text
// is always the same, and only the window or the log says who asks and for what: any program can show a notification, and any program of
// the user can replace the notification service and read them.

#ifndef VAUBAN_SHEET_NOTIFICATION_H
#define VAUBAN_SHEET_NOTIFICATION_H

#include <gio/gio.h>

#define SHEET_NOTIFICATIONS "org.freedesktop.Notifications"
#define SHEET_NOTIFICATIONS_PATH "/org/freedesktop/Notifications"

struct sheet_notification {
    const char *summary, *body;
    // Milliseconds until the service removes the notification by itself, in case this process has ended.
    int time;
    void (*chosen)(const char *token);
    GDBusConnection *bus;
    char *token;
    guint32 number;
    gboolean is_wanted, is_on_its_way;
};

static inline void sheet_notification_close(struct sheet_notification *it) {
    if (!it->number) return;
    g_dbus_connection_call(it->bus, SHEET_NOTIFICATIONS, SHEET_NOTIFICATIONS_PATH, SHEET_NOTIFICATIONS, "CloseNotification",
        g_variant_new("(u)", it->number), NULL, G_DBUS_CALL_FLAGS_NO_AUTO_START, -1, NULL, NULL, NULL);
    it->number = 0;
}

static inline void sheet_notification_send(struct sheet_notification *it);

static inline gboolean sheet_notification_again(gpointer data) {
    struct sheet_notification *it = data;
    if (it->is_wanted && !it->number && !it->is_on_its_way) sheet_notification_send(it);
    return G_SOURCE_REMOVE;
}

static inline void sheet_notification_shown(GObject *bus, GAsyncResult *result, gpointer data) {
    struct sheet_notification *it = data;
    it->is_on_its_way = FALSE;
    // Without a notification service, a prompt waits in its window. A notification without a window waits for a service, which the session
    // may start later.
    GVariant *answer = g_dbus_connection_call_finish(G_DBUS_CONNECTION(bus), result, NULL);
    if (!answer) {
        if (!it->chosen) g_timeout_add_seconds(5, sheet_notification_again, it);
        return;
    }
    g_variant_get(answer, "(u)", &it->number);
    g_variant_unref(answer);
    if (!it->is_wanted) sheet_notification_close(it);
}

static inline void sheet_notification_send(struct sheet_notification *it) {
    GVariantBuilder actions, hints;
    g_variant_builder_init(&actions, G_VARIANT_TYPE("as"));
    if (it->chosen) {
        g_variant_builder_add(&actions, "s", "default");
        g_variant_builder_add(&actions, "s", "Show the window");
    }
    g_variant_builder_init(&hints, G_VARIANT_TYPE("a{sv}"));
    // Critical, since desktops hold other notifications back while a window fills the screen.
    g_variant_builder_add(&hints, "{sv}", "urgency", g_variant_new_byte(2));
    it->is_on_its_way = TRUE;
    g_dbus_connection_call(it->bus, SHEET_NOTIFICATIONS, SHEET_NOTIFICATIONS_PATH, SHEET_NOTIFICATIONS, "Notify",
        g_variant_new("(susssasa{sv}i)", "Vauban", 0, "dialog-password", it->summary, it->body, &actions, &hints, it->time),
        G_VARIANT_TYPE("(u)"), G_DBUS_CALL_FLAGS_NONE, -1, NULL, sheet_notification_shown, it);
}

static inline void sheet_notification_heard(GDBusConnection *bus, const char *sender, const char *path, const char *interface, const char *signal, GVariant *words, gpointer data) {
    struct sheet_notification *it = data;
    guint32 number = 0;
    const char *text = NULL;
    (void)bus; (void)sender; (void)path; (void)interface;
    if (g_variant_is_of_type(words, G_VARIANT_TYPE("(us)"))) g_variant_get(words, "(u&s)", &number, &text);
    else if (g_variant_is_of_type(words, G_VARIANT_TYPE("(uu)"))) g_variant_get(words, "(uu)", &number, NULL);
    if (!number || number != it->number) return;
    if (g_strcmp0(signal, "NotificationClosed") == 0) it->number = 0;
    // The token tells a Wayland compositor that the user asked for the window that is shown next.
    if (g_strcmp0(signal, "ActivationToken") == 0 && text) { g_free(it->token); it->token = g_strdup(text); }
    if (g_strcmp0(signal, "ActionInvoked") == 0 && it->chosen) {
        it->chosen(it->token);
        g_clear_pointer(&it->token, g_free);
    }
}

static inline void sheet_notification_connected(GObject *source, GAsyncResult *result, gpointer data) {
    struct sheet_notification *it = data;
    (void)source;
    it->is_on_its_way = FALSE;
    it->bus = g_bus_get_finish(result, NULL);
    if (!it->bus) return;
    g_dbus_connection_signal_subscribe(it->bus, SHEET_NOTIFICATIONS, SHEET_NOTIFICATIONS, NULL, SHEET_NOTIFICATIONS_PATH, NULL,
        G_DBUS_SIGNAL_FLAGS_NONE, sheet_notification_heard, it, NULL);
    if (it->is_wanted) sheet_notification_send(it);
}

// `chosen` is called when the user clicks the notification, with the compositor's token or NULL; without `chosen` it cannot be clicked. The
// caller keeps the strings alive. The result is never freed. With 0 milliseconds the notification stays until the user closes it.
static inline struct sheet_notification *sheet_notification_new(const char *summary, const char *body, int milliseconds, void (*chosen)(const char *token)) {
    struct sheet_notification *it = g_new0(struct sheet_notification, 1);
    it->summary = summary;
    it->body = body;
    it->time = milliseconds;
    it->chosen = chosen;
    return it;
}

// Shows the notification, unless it is already shown. If the user closes it, it comes back only after `sheet_notification_end`.
static inline void sheet_notification_begin(struct sheet_notification *it) {
    if (it->is_wanted) return;
    it->is_wanted = TRUE;
    if (it->is_on_its_way || it->number) return;
    if (it->bus) return sheet_notification_send(it);
    it->is_on_its_way = TRUE;
    g_bus_get(G_BUS_TYPE_SESSION, NULL, sheet_notification_connected, it);
}

static inline void sheet_notification_end(struct sheet_notification *it) {
    it->is_wanted = FALSE;
    sheet_notification_close(it);
}

#endif
