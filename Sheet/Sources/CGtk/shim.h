// GTK for Swift: the parts of its interface that are macros, need casts, or take a variable number of arguments.

#ifndef VAUBAN_SHEET_SHIM_H
#define VAUBAN_SHEET_SHIM_H

#include "desktop.h"
#include "notification.h"
#include "session.h"
#include <gtk/gtk.h>
#include <stdint.h>
#include <string.h>

static inline GtkWindow *sheet_window(GtkWidget *widget) { return GTK_WINDOW(widget); }
static inline GtkBox *sheet_box(GtkWidget *widget) { return GTK_BOX(widget); }
static inline GtkGrid *sheet_grid(GtkWidget *widget) { return GTK_GRID(widget); }
static inline GtkLabel *sheet_label(GtkWidget *widget) { return GTK_LABEL(widget); }
static inline GtkButton *sheet_button(GtkWidget *widget) { return GTK_BUTTON(widget); }
static inline GtkCheckButton *sheet_check(GtkWidget *widget) { return GTK_CHECK_BUTTON(widget); }
static inline GtkEditable *sheet_editable(GtkWidget *widget) { return GTK_EDITABLE(widget); }
static inline GtkImage *sheet_image(GtkWidget *widget) { return GTK_IMAGE(widget); }
static inline GtkDrawingArea *sheet_canvas(GtkWidget *widget) { return GTK_DRAWING_AREA(widget); }
static inline GtkScrolledWindow *sheet_scroller(GtkWidget *widget) { return GTK_SCROLLED_WINDOW(widget); }

// A signal whose handler takes no arguments of the signal.
static inline void sheet_on(gpointer object, const char *signal, void (*handler)(gpointer object, gpointer data), gpointer data) {
    g_signal_connect(object, signal, G_CALLBACK(handler), data);
}

static inline void sheet_on_close(GtkWidget *window, gboolean (*handler)(gpointer object, gpointer data), gpointer data) {
    g_signal_connect(window, "close-request", G_CALLBACK(handler), data);
}

static inline void sheet_on_key(GtkEventController *keys, gboolean (*handler)(gpointer object, guint key, guint code, GdkModifierType state, gpointer data), gpointer data) {
    g_signal_connect(keys, "key-pressed", G_CALLBACK(handler), data);
}

// Presses of the primary mouse button, and touches.
static inline GtkEventController *sheet_clicks(void) { return GTK_EVENT_CONTROLLER(gtk_gesture_click_new()); }
static inline void sheet_on_click(GtkEventController *clicks, const char *signal, void (*handler)(gpointer object, int count, double x, double y, gpointer data), gpointer data) {
    g_signal_connect(clicks, signal, G_CALLBACK(handler), data);
}

// Whether the window has the keyboard focus, according to the desktop. GTK's own is-active can be out of date: it keeps its value when a
// window is shown again and gets no focus.
static inline gboolean sheet_has_keyboard(GtkWidget *window) {
    GdkSurface *surface = gtk_native_get_surface(GTK_NATIVE(window));
    return surface && gtk_widget_get_mapped(window) && (gdk_toplevel_get_state(GDK_TOPLEVEL(surface)) & GDK_TOPLEVEL_STATE_FOCUSED);
}
// The number of the last frame that the window has drawn; -1 if there is none.
static inline gint64 sheet_frame(GtkWidget *window) {
    GdkFrameClock *clock = gtk_widget_get_frame_clock(window);
    return clock ? gdk_frame_clock_get_frame_counter(clock) : -1;
}
// Waits until the desktop has handled all requests of this process, and reads the replies.
static inline void sheet_catch_up(GtkWidget *window) { gdk_display_sync(gtk_widget_get_display(window)); }
static inline void sheet_state_changed(GObject *surface, GParamSpec *spec, gpointer changed) {
    (void)surface; (void)spec;
    ((void (*)(void))changed)();
}
static inline void sheet_state_begins(GtkWidget *window, gpointer changed) {
    g_signal_connect(gtk_native_get_surface(GTK_NATIVE(window)), "notify::state", G_CALLBACK(sheet_state_changed), changed);
}
// Calls `changed` whenever the desktop changes the state of the window.
static inline void sheet_on_state(GtkWidget *window, void (*changed)(void)) {
    g_signal_connect(window, "realize", G_CALLBACK(sheet_state_begins), (gpointer)changed);
}

// Names for the screen reader.
static inline void sheet_name(GtkWidget *widget, const char *name) {
    gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
}
static inline void sheet_describe(GtkWidget *widget, const char *text) {
    gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text, -1);
}
static inline void sheet_described_by(GtkWidget *widget, GtkWidget *other) {
    gtk_accessible_update_relation(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_RELATION_DESCRIBED_BY, other, NULL, -1);
}
static inline void sheet_labelled_by(GtkWidget *widget, GtkWidget *other) {
    gtk_accessible_update_relation(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_RELATION_LABELLED_BY, other, NULL, -1);
}
static inline GtkWidget *sheet_label_of_role(GtkAccessibleRole role) { return GTK_WIDGET(g_object_new(GTK_TYPE_LABEL, "accessible-role", role, NULL)); }
static inline GtkWidget *sheet_canvas_of_role(GtkAccessibleRole role) { return GTK_WIDGET(g_object_new(GTK_TYPE_DRAWING_AREA, "accessible-role", role, NULL)); }
static inline GtkWidget *sheet_window_of_role(GtkAccessibleRole role) { return GTK_WIDGET(g_object_new(GTK_TYPE_WINDOW, "accessible-role", role, NULL)); }

static inline void sheet_set_busy(GtkWidget *widget, gboolean is_busy) { gtk_accessible_update_state(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_STATE_BUSY, is_busy, -1); }
// Lets an entry accept text, or not. A screen reader would call it read-only meanwhile, although it accepts text a moment later.
static inline void sheet_accept_text(GtkWidget *entry, gboolean accepts) {
    gtk_editable_set_editable(GTK_EDITABLE(entry), accepts);
    gtk_accessible_update_property(GTK_ACCESSIBLE(entry), GTK_ACCESSIBLE_PROPERTY_READ_ONLY, FALSE, -1);
}

// Publishes the object of a hidden window to screen readers again, after GTK has withdrawn it. A screen reader that has not yet heard that
// the window is hidden asks for the first window of the process. GTK 4.8 then answers with a hidden one, and crashes if that has no object
// (GetChildAtIndex in gtkatspiroot.c). The only public call that publishes it changes whether the window takes the focus.
static inline void sheet_publish_hidden(GtkWidget *window) {
    gboolean takes_focus = gtk_widget_get_focusable(window);
    gtk_widget_set_focusable(window, !takes_focus);
    gtk_widget_set_focusable(window, takes_focus);
}

// The height of the lowest monitor, in the units of a widget's size.
static inline int sheet_monitor_height_min(void) {
    GListModel *monitors = gdk_display_get_monitors(gdk_display_get_default());
    int least = G_MAXINT;
    for (guint index = 0; index < g_list_model_get_n_items(monitors); index++) {
        GdkMonitor *monitor = g_list_model_get_item(monitors, index);
        GdkRectangle place = { 0 };
        gdk_monitor_get_geometry(monitor, &place);
        if (place.height > 0) least = MIN(least, place.height);
        g_object_unref(monitor);
    }
    return least;
}

static inline gboolean sheet_setting_is_on(GtkSettings *settings, const char *name) {
    gboolean value = FALSE;
    g_object_get(settings, name, &value, NULL);
    return value;
}
static inline void sheet_set_setting(GtkSettings *settings, const char *name, gboolean value) { g_object_set(settings, name, value, NULL); }
static inline gboolean sheet_is_on_x11(void) { return g_strcmp0(G_OBJECT_TYPE_NAME(gdk_display_get_default()), "GdkX11Display") == 0; }

// Keeps what is typed into an entry in a buffer that belongs to no widget; the entry itself gets as many stars. GTK sends the text of an
// entry, and each change, to the accessibility bus, where every program of the user can listen.
static inline void sheet_insert(GtkEditable *text, const char *typed, int bytes, int *position, gpointer signs) {
    guint count = gtk_entry_buffer_insert_text(GTK_ENTRY_BUFFER(signs), (guint)*position, typed, (int)g_utf8_strlen(typed, bytes));
    char *stars = g_strnfill(count, '*');
    // Later handlers see only the stars.
    g_signal_stop_emission_by_name(text, "insert-text");
    g_signal_handlers_block_by_func(text, (gpointer)sheet_insert, signs);
    gtk_editable_insert_text(text, stars, (int)count, position);
    g_signal_handlers_unblock_by_func(text, (gpointer)sheet_insert, signs);
    g_free(stars);
}
static inline void sheet_delete(GtkEditable *text, int start, int end, gpointer signs) {
    (void)text;
    gtk_entry_buffer_delete_text(GTK_ENTRY_BUFFER(signs), (guint)start, end < 0 ? -1 : end - start);
}
static inline GtkEntryBuffer *sheet_take_signs(GtkWidget *entry) {
    GtkEntryBuffer *signs = gtk_password_entry_buffer_new();
    GtkEditable *text = gtk_editable_get_delegate(GTK_EDITABLE(entry));
    // Undo would bring back stars.
    gtk_editable_set_enable_undo(GTK_EDITABLE(entry), FALSE);
    // There is nothing to show but stars.
    gtk_widget_action_set_enabled(GTK_WIDGET(text), "misc.toggle-visibility", FALSE);
    g_signal_connect(text, "insert-text", G_CALLBACK(sheet_insert), signs);
    g_signal_connect(text, "delete-text", G_CALLBACK(sheet_delete), signs);
    return signs;
}

// Overwrites a text in place, with as many characters in as many bytes, so that its owner's counts of both stay valid. For a buffer that
// GTK offers no way to erase.
static inline void sheet_overwrite(const char *text) {
    for (volatile unsigned char *byte = (volatile unsigned char *)(uintptr_t)text; *byte; byte++) {
        if (*byte < 0x80) *byte = 'x';
        else if (*byte < 0xc0) *byte = 0x97;
        else if (*byte < 0xe0) *byte = 0xc3;
        else if (*byte < 0xf0) *byte = 0xe3;
        else *byte = 0xf1;
    }
}

// Overwrites the part of the stack that earlier calls used: GTK and the C library leave copies of a text there.
__attribute__((noinline)) static void sheet_overwrite_stack(void) {
    volatile unsigned char used[512 * 1024];
    for (size_t place = 0; place < sizeof used; place++) used[place] = 0;
}

// Follows the desktop's setting for light or dark, which GTK itself does not read. `changed` gets the setting at once and whenever it
// changes.
struct sheet_scheme { void (*changed)(gboolean is_dark); };

static inline void sheet_scheme_value(struct sheet_scheme *scheme, GVariant *value) {
    while (value && g_variant_is_of_type(value, G_VARIANT_TYPE_VARIANT)) {
        GVariant *inner = g_variant_get_variant(value);
        g_variant_unref(value);
        value = inner;
    }
    if (value && g_variant_is_of_type(value, G_VARIANT_TYPE_UINT32)) scheme->changed(g_variant_get_uint32(value) == 1);
    if (value) g_variant_unref(value);
}
static inline void sheet_scheme_read(GObject *connection, GAsyncResult *result, gpointer data) {
    // Without a portal there is nothing to follow, and GTK's own setting applies.
    GVariant *answer = g_dbus_connection_call_finish(G_DBUS_CONNECTION(connection), result, NULL);
    if (!answer) return;
    sheet_scheme_value(data, g_variant_get_child_value(answer, 0));
    g_variant_unref(answer);
}
static inline void sheet_scheme_heard(GDBusConnection *connection, const char *sender, const char *path, const char *interface, const char *signal, GVariant *words, gpointer data) {
    const char *group = NULL, *key = NULL;
    GVariant *value = NULL;
    (void)connection; (void)sender; (void)path; (void)interface; (void)signal;
    if (!g_variant_is_of_type(words, G_VARIANT_TYPE("(ssv)"))) return;
    g_variant_get(words, "(&s&sv)", &group, &key, &value);
    if (g_strcmp0(group, "org.freedesktop.appearance") == 0 && g_strcmp0(key, "color-scheme") == 0) sheet_scheme_value(data, value);
    else g_variant_unref(value);
}
static inline void sheet_scheme_connected(GObject *source, GAsyncResult *result, gpointer data) {
    GDBusConnection *bus = g_bus_get_finish(result, NULL);
    (void)source;
    if (!bus) return;
    g_dbus_connection_signal_subscribe(bus, "org.freedesktop.portal.Desktop", "org.freedesktop.portal.Settings", "SettingChanged",
        "/org/freedesktop/portal/desktop", "org.freedesktop.appearance", G_DBUS_SIGNAL_FLAGS_NONE, sheet_scheme_heard, data, NULL);
    g_dbus_connection_call(bus, "org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop", "org.freedesktop.portal.Settings", "Read",
        g_variant_new("(ss)", "org.freedesktop.appearance", "color-scheme"), G_VARIANT_TYPE("(v)"), G_DBUS_CALL_FLAGS_NONE, -1, NULL, sheet_scheme_read, data);
}
static inline void sheet_follow_scheme(void (*changed)(gboolean is_dark)) {
    static struct sheet_scheme scheme;
    scheme.changed = changed;
    g_bus_get(G_BUS_TYPE_SESSION, NULL, sheet_scheme_connected, &scheme);
}

#endif
