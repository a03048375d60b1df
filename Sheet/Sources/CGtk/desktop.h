// What the desktop application needs of GTK beyond what the sheet needs: any signal, lists that make rows for what is visible only, the
// clipboard.

#ifndef VAUBAN_SHEET_DESKTOP_H
#define VAUBAN_SHEET_DESKTOP_H

#include <gtk/gtk.h>
#include <malloc.h>
#include <string.h>

static inline GtkListView *desktop_list_view(GtkWidget *widget) { return GTK_LIST_VIEW(widget); }
static inline GtkListBox *desktop_list_box(GtkWidget *widget) { return GTK_LIST_BOX(widget); }
static inline GtkHeaderBar *desktop_header(GtkWidget *widget) { return GTK_HEADER_BAR(widget); }
static inline GtkTextView *desktop_text_view(GtkWidget *widget) { return GTK_TEXT_VIEW(widget); }
static inline GtkProgressBar *desktop_progress(GtkWidget *widget) { return GTK_PROGRESS_BAR(widget); }
// A choice with a text that wraps.
static inline void desktop_check_set_child(GtkWidget *check, GtkWidget *child) { gtk_check_button_set_child(GTK_CHECK_BUTTON(check), child); }
// A picture that screen readers skip.
static inline GtkWidget *desktop_silent_image(void) { return GTK_WIDGET(g_object_new(GTK_TYPE_IMAGE, "accessible-role", GTK_ACCESSIBLE_ROLE_PRESENTATION, NULL)); }

// Gives back the memory that is free between what is used.
static inline void desktop_give_back_memory(void) { malloc_trim(0); }

// Calls the handler with its data at any signal that returns nothing; `ended` gets the data when the object goes.
static inline void desktop_on(gpointer object, const char *signal, void (*handler)(gpointer data), gpointer data, GClosureNotify ended) {
    g_signal_connect_data(object, signal, G_CALLBACK(handler), data, ended, G_CONNECT_SWAPPED);
}

// A model of rows without content: Swift knows what is in each, by its position. GTK asks for those that are visible.
struct desktop_rows { GObject object; guint count; };
static GType desktop_rows_item_type(GListModel *rows) { (void)rows; return G_TYPE_OBJECT; }
static guint desktop_rows_count(GListModel *rows) { return ((struct desktop_rows *)rows)->count; }
static gpointer desktop_rows_item(GListModel *rows, guint position) {
    // Each is another object, so that GTK takes no row for one that it has shown before.
    return position < desktop_rows_count(rows) ? g_object_new(G_TYPE_OBJECT, NULL) : NULL;
}
static void desktop_rows_model(gpointer interface, gpointer data) {
    GListModelInterface *model = interface;
    (void)data;
    model->get_item_type = desktop_rows_item_type;
    model->get_n_items = desktop_rows_count;
    model->get_item = desktop_rows_item;
}
static inline GListModel *desktop_rows_new(void) {
    // By name, since every Swift file has functions of a header for itself.
    GType type = g_type_from_name("VaubanRows");
    if (!type) {
        const GInterfaceInfo model = { .interface_init = desktop_rows_model };
        type = g_type_register_static_simple(G_TYPE_OBJECT, "VaubanRows", sizeof(GObjectClass), NULL, sizeof(struct desktop_rows), NULL, 0);
        g_type_add_interface_static(type, G_TYPE_LIST_MODEL, &model);
    }
    return G_LIST_MODEL(g_object_new(type, NULL));
}

// `make` returns the widget of a row; `bind` fills it for a position, and gets the row that holds it, which a screen reader names.
static inline void desktop_list_make(GtkListItemFactory *factory, GtkListItem *item, gpointer make) {
    (void)factory;
    gtk_list_item_set_child(item, ((GtkWidget * (*)(void)) make)());
}
static inline void desktop_list_bind(GtkListItemFactory *factory, GtkListItem *item, gpointer bind) {
    GtkWidget *child = gtk_list_item_get_child(item);
    (void)factory;
    ((void (*)(GtkWidget *, GtkWidget *, guint))bind)(child, gtk_widget_get_parent(child), gtk_list_item_get_position(item));
}
static inline GtkWidget *desktop_list_new(GtkWidget *(*make)(void), void (*bind)(GtkWidget *child, GtkWidget *row, guint position)) {
    GtkListItemFactory *factory = gtk_signal_list_item_factory_new();
    g_signal_connect(factory, "setup", G_CALLBACK(desktop_list_make), (gpointer)make);
    g_signal_connect(factory, "bind", G_CALLBACK(desktop_list_bind), (gpointer)bind);
    GtkSingleSelection *selection = gtk_single_selection_new(desktop_rows_new());
    gtk_single_selection_set_autoselect(selection, FALSE);
    gtk_single_selection_set_can_unselect(selection, TRUE);
    return gtk_list_view_new(GTK_SELECTION_MODEL(selection), factory);
}
static inline gpointer desktop_list_selection(GtkWidget *view) { return gtk_list_view_get_model(GTK_LIST_VIEW(view)); }
static inline guint desktop_list_selected(GtkWidget *view) { return gtk_single_selection_get_selected(GTK_SINGLE_SELECTION(desktop_list_selection(view))); }
static inline void desktop_list_select(GtkWidget *view, guint position) {
    gtk_single_selection_set_selected(GTK_SINGLE_SELECTION(desktop_list_selection(view)), position);
}
// Every row is new, and none is selected.
static inline void desktop_list_replace(GtkWidget *view, guint count) {
    desktop_list_select(view, GTK_INVALID_LIST_POSITION);
    GListModel *rows = gtk_single_selection_get_model(GTK_SINGLE_SELECTION(desktop_list_selection(view)));
    guint before = desktop_rows_count(rows);
    ((struct desktop_rows *)rows)->count = count;
    g_list_model_items_changed(rows, 0, before, count);
}
// Adds rows after the others; what is selected and in sight stays so.
static inline void desktop_list_extend(GtkWidget *view, guint count) {
    GListModel *rows = gtk_single_selection_get_model(GTK_SINGLE_SELECTION(desktop_list_selection(view)));
    guint before = desktop_rows_count(rows);
    ((struct desktop_rows *)rows)->count = count;
    g_list_model_items_changed(rows, before, 0, count - before);
}

// Copies a secret. Clipboard managers that know the hint keep no history of it. Returns what is in the clipboard then, for desktop_uncopy.
static inline gpointer desktop_copy_secret(const char *text, gsize count) {
    GBytes *bytes = g_bytes_new(text, count), *hint = g_bytes_new_static("secret", 6);
    GdkContentProvider *parts[] = {
        gdk_content_provider_new_for_bytes("text/plain;charset=utf-8", bytes),
        gdk_content_provider_new_for_bytes("text/plain", bytes),
        gdk_content_provider_new_for_bytes("x-kde-passwordManagerHint", hint),
    };
    GdkContentProvider *all = gdk_content_provider_new_union(parts, G_N_ELEMENTS(parts));
    gdk_clipboard_set_content(gdk_display_get_clipboard(gdk_display_get_default()), all);
    g_bytes_unref(bytes);
    g_bytes_unref(hint);
    return all;
}
// Empties the clipboard, unless something else was copied since.
static inline void desktop_uncopy(gpointer copied) {
    GdkClipboard *clipboard = gdk_display_get_clipboard(gdk_display_get_default());
    if (gdk_clipboard_get_content(clipboard) == copied) gdk_clipboard_set_content(clipboard, NULL);
    g_object_unref(copied);
}
static inline void desktop_copy_text(const char *text) { gdk_clipboard_set_text(gdk_display_get_clipboard(gdk_display_get_default()), text); }

// Rows of a short list that is made as a whole; -1 where none is selected.
static inline GtkWidget *desktop_list_box_row(GtkWidget *child) {
    GtkWidget *row = gtk_list_box_row_new();
    gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), child);
    return row;
}
static inline int desktop_list_box_selected(GtkWidget *list) {
    GtkListBoxRow *row = gtk_list_box_get_selected_row(GTK_LIST_BOX(list));
    return row ? gtk_list_box_row_get_index(row) : -1;
}
static inline void desktop_list_box_select(GtkWidget *list, int index) {
    gtk_list_box_select_row(GTK_LIST_BOX(list), gtk_list_box_get_row_at_index(GTK_LIST_BOX(list), index));
}

static inline void desktop_set_placeholder(GtkWidget *entry, const char *text) { gtk_entry_set_placeholder_text(GTK_ENTRY(entry), text); }

// The whole text of a text view; to be freed.
static inline char *desktop_text(GtkWidget *view) {
    GtkTextBuffer *buffer = gtk_text_view_get_buffer(GTK_TEXT_VIEW(view));
    GtkTextIter start, end;
    gtk_text_buffer_get_bounds(buffer, &start, &end);
    return gtk_text_buffer_get_text(buffer, &start, &end, FALSE);
}
static inline void desktop_set_text(GtkWidget *view, const char *text) { gtk_text_buffer_set_text(gtk_text_view_get_buffer(GTK_TEXT_VIEW(view)), text, -1); }

#endif
