// Whether this session is the one that the user sees, according to the login manager (org.freedesktop.login1, of systemd or elogind).

#ifndef VAUBAN_SHEET_SESSION_H
#define VAUBAN_SHEET_SESSION_H

#include <gio/gio.h>

#define SHEET_LOGIN "org.freedesktop.login1"

struct sheet_session {
    GDBusConnection *bus;
    void (*changed)(gboolean is_active);
    // The timer for asking again.
    guint again;
};

// A call with a short timeout: a healthy login manager answers at once.
static inline GVariant *sheet_session_ask(struct sheet_session *session, const char *path, const char *interface, const char *method, GVariant *words, GError **error) {
    return g_dbus_connection_call_sync(session->bus, SHEET_LOGIN, path, interface, method, words, NULL, G_DBUS_CALL_FLAGS_NO_AUTO_START, 1000, NULL, error);
}

static inline gboolean sheet_session_again(gpointer data);

// Reports the state of the session, if it is known. Without a login manager there are no sessions to tell apart, and this one counts as
// active.
static inline void sheet_session_look(struct sheet_session *session) {
    // The session of this process. A service of the user belongs to none, and uses that of the user's desktop.
    const char *name = g_getenv("XDG_SESSION_ID");
    GError *error = NULL;
    GVariant *found = sheet_session_ask(session, "/org/freedesktop/login1", SHEET_LOGIN ".Manager", "GetSession", g_variant_new("(s)", name ? name : "auto"), &error);
    GVariant *answer = NULL;
    if (found && g_variant_is_of_type(found, G_VARIANT_TYPE("(o)"))) {
        const char *path;
        g_variant_get(found, "(&o)", &path);
        answer = sheet_session_ask(session, path, "org.freedesktop.DBus.Properties", "GetAll", g_variant_new("(s)", SHEET_LOGIN ".Session"), &error);
    }
    if (answer && g_variant_is_of_type(answer, G_VARIANT_TYPE("(a{sv})"))) {
        const char *state = "";
        // Set by a screen locker that reports to the login manager. A prompt under it would take the finger that is meant for the lock.
        gboolean is_remote = FALSE, is_locked = FALSE;
        GVariant *values = g_variant_get_child_value(answer, 0);
        g_variant_lookup(values, "State", "&s", &state);
        g_variant_lookup(values, "Remote", "b", &is_remote);
        g_variant_lookup(values, "LockedHint", "b", &is_locked);
        session->changed(g_strcmp0(state, "active") == 0 && !is_remote && !is_locked);
        g_variant_unref(values);
    } else if (g_error_matches(error, G_DBUS_ERROR, G_DBUS_ERROR_SERVICE_UNKNOWN) || g_error_matches(error, G_DBUS_ERROR, G_DBUS_ERROR_NAME_HAS_NO_OWNER)) {
        session->changed(TRUE);
    } else if (error && g_dbus_error_is_remote_error(error) && !g_error_matches(error, G_DBUS_ERROR, G_DBUS_ERROR_NO_REPLY)) {
        // The login manager does not know the session, so it has ended.
        session->changed(FALSE);
    } else if (!session->again) {
        // The login manager is too busy to answer. Ask again soon, since there may be no further signal.
        session->again = g_timeout_add_seconds(1, sheet_session_again, session);
    }
    g_clear_error(&error);
    if (answer) g_variant_unref(answer);
    if (found) g_variant_unref(found);
}

static inline gboolean sheet_session_again(gpointer data) {
    ((struct sheet_session *)data)->again = 0;
    sheet_session_look(data);
    return G_SOURCE_REMOVE;
}
static inline void sheet_session_heard(GDBusConnection *bus, const char *sender, const char *path, const char *interface, const char *signal, GVariant *words, gpointer data) {
    (void)bus; (void)sender; (void)path; (void)interface; (void)signal; (void)words;
    sheet_session_look(data);
}
static inline void sheet_session_appeared(GDBusConnection *bus, const char *name, const char *owner, gpointer data) {
    (void)bus; (void)name; (void)owner;
    sheet_session_look(data);
}
static inline void sheet_session_vanished(GDBusConnection *bus, const char *name, gpointer data) {
    (void)bus; (void)name;
    ((struct sheet_session *)data)->changed(TRUE);
}

// Calls `changed` once before this returns, if the state is known, and whenever it may have changed. Sessions change rarely, so the login
// manager is asked again at each of its signals.
static inline void sheet_follow_session(void (*changed)(gboolean is_active)) {
    static struct sheet_session session;
    session.changed = changed;
    session.bus = g_bus_get_sync(G_BUS_TYPE_SYSTEM, NULL, NULL);
    if (!session.bus) return;
    g_dbus_connection_set_exit_on_close(session.bus, FALSE);
    g_dbus_connection_signal_subscribe(session.bus, SHEET_LOGIN, NULL, NULL, NULL, NULL, G_DBUS_SIGNAL_FLAGS_NONE, sheet_session_heard, &session, NULL);
    g_bus_watch_name_on_connection(session.bus, SHEET_LOGIN, G_BUS_NAME_WATCHER_FLAGS_NONE, sheet_session_appeared, sheet_session_vanished, &session, NULL);
    sheet_session_look(&session);
}

#endif
