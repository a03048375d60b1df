// What the desktop application needs of GTK in addition to the sheet: signals, lists that create only visible rows, a layout, the
// clipboard.

#ifndef VAUBAN_SHEET_DESKTOP_H
#define VAUBAN_SHEET_DESKTOP_H

#include <gtk/gtk.h>
#include <malloc.h>
#include <string.h>

static inline GtkListBox *desktop_list_box(GtkWidget *widget) { return GTK_LIST_BOX(widget); }
static inline GtkHeaderBar *desktop_header(GtkWidget *widget) { return GTK_HEADER_BAR(widget); }
static inline GtkTextView *desktop_text_view(GtkWidget *widget) { return GTK_TEXT_VIEW(widget); }
static inline GtkProgressBar *desktop_progress(GtkWidget *widget) { return GTK_PROGRESS_BAR(widget); }
// Sets a label that wraps, in place of a check button's own.
static inline void desktop_check_set_child(GtkWidget *check, GtkWidget *child) { gtk_check_button_set_child(GTK_CHECK_BUTTON(check), child); }
// A picture that screen readers skip.
static inline GtkWidget *desktop_silent_image(void) { return GTK_WIDGET(g_object_new(GTK_TYPE_IMAGE, "accessible-role", GTK_ACCESSIBLE_ROLE_PRESENTATION, NULL)); }

// The layout of a row that continues on the next line where the window is too narrow. On each line, children that expand share the room
// that is left over.
enum { DESKTOP_FLOW_SPACING = 8 };
// The children from `first` up to `end`, without `end`.
struct desktop_flow_line { GtkWidget *end; int width, height, expanding; };
// The natural width of a child, but at most `width`; a negative width is no limit.
static inline int desktop_flow_width(GtkWidget *child, int width) {
    int natural = 0;
    gtk_widget_measure(child, GTK_ORIENTATION_HORIZONTAL, -1, NULL, &natural, NULL, NULL);
    return width >= 0 && natural > width ? width : natural;
}
static inline struct desktop_flow_line desktop_flow_line(GtkWidget *first, int width) {
    struct desktop_flow_line line = { .end = first };
    for (; line.end; line.end = gtk_widget_get_next_sibling(line.end)) {
        if (!gtk_widget_should_layout(line.end)) continue;
        int own = desktop_flow_width(line.end, width), space = line.width ? DESKTOP_FLOW_SPACING : 0, height = 0;
        if (width >= 0 && line.width && line.width + space + own > width) break;
        gtk_widget_measure(line.end, GTK_ORIENTATION_VERTICAL, own, NULL, &height, NULL, NULL);
        line.width += space + own;
        line.height = MAX(line.height, height);
        line.expanding += gtk_widget_get_hexpand(line.end);
    }
    return line;
}
static GtkSizeRequestMode desktop_flow_mode(GtkWidget *row) {
    (void)row;
    return GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH;
}
static void desktop_flow_measure(GtkWidget *row, GtkOrientation orientation, int width, int *least, int *natural, int *base, int *natural_base) {
    *least = *natural = 0;
    *base = *natural_base = -1;
    if (orientation == GTK_ORIENTATION_HORIZONTAL) {
        // As narrow as the widest child, and as wide as all of them on one line.
        for (GtkWidget *child = gtk_widget_get_first_child(row); child; child = gtk_widget_get_next_sibling(child)) {
            int own = 0;
            if (!gtk_widget_should_layout(child)) continue;
            gtk_widget_measure(child, orientation, -1, &own, NULL, NULL, NULL);
            *least = MAX(*least, own);
        }
        *natural = MAX(*least, desktop_flow_line(gtk_widget_get_first_child(row), -1).width);
        return;
    }
    for (GtkWidget *child = gtk_widget_get_first_child(row); child;) {
        struct desktop_flow_line line = desktop_flow_line(child, width);
        *least += (*least ? DESKTOP_FLOW_SPACING : 0) + line.height;
        child = line.end;
    }
    *natural = *least;
}
static void desktop_flow_allocate(GtkWidget *row, int width, int height, int baseline) {
    gboolean is_right_to_left = gtk_widget_get_direction(row) == GTK_TEXT_DIR_RTL;
    int y = 0;
    (void)height; (void)baseline;
    for (GtkWidget *child = gtk_widget_get_first_child(row); child;) {
        struct desktop_flow_line line = desktop_flow_line(child, width);
        int room = MAX(0, width - line.width), expanding = line.expanding, x = 0;
        for (; child != line.end; child = gtk_widget_get_next_sibling(child)) {
            if (!gtk_widget_should_layout(child)) continue;
            int own = desktop_flow_width(child, width);
            if (gtk_widget_get_hexpand(child)) {
                int share = room / expanding--;
                room -= share;
                own += share;
            }
            if (x) x += DESKTOP_FLOW_SPACING;
            gtk_widget_size_allocate(child, &(GtkAllocation){ is_right_to_left ? width - x - own : x, y, own, line.height }, -1);
            x += own;
        }
        y += line.height + DESKTOP_FLOW_SPACING;
    }
}
// Gives a box this layout in place of its own.
static inline void desktop_flow(GtkWidget *box) {
    gtk_widget_set_layout_manager(box, gtk_custom_layout_new(desktop_flow_mode, desktop_flow_measure, desktop_flow_allocate));
}

// Returns free memory to the system, also between blocks that are in use.
static inline void desktop_give_back_memory(void) { malloc_trim(0); }

// Calls the handler with its data at each signal, of those that return nothing. `ended` gets the data when the object is destroyed.
static inline void desktop_on(gpointer object, const char *signal, void (*handler)(gpointer data), gpointer data, GClosureNotify ended) {
    g_signal_connect_data(object, signal, G_CALLBACK(handler), data, ended, G_CONNECT_SWAPPED);
}

// A list model whose rows have no content: Swift finds the content by position. GTK asks only for the rows that are visible.
struct desktop_rows { GObject object; guint count; };
static GType desktop_rows_item_type(GListModel *rows) { (void)rows; return G_TYPE_OBJECT; }
static guint desktop_rows_count(GListModel *rows) { return ((struct desktop_rows *)rows)->count; }
static gpointer desktop_rows_item(GListModel *rows, guint position) {
    // A new object each time, so that GTK does not mistake a row for one that it has shown before.
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
    // Looked up by name, since each Swift file has its own copy of the functions in a header.
    GType type = g_type_from_name("VaubanRows");
    if (!type) {
        const GInterfaceInfo model = { .interface_init = desktop_rows_model };
        type = g_type_register_static_simple(G_TYPE_OBJECT, "VaubanRows", sizeof(GObjectClass), NULL, sizeof(struct desktop_rows), NULL, 0);
        g_type_add_interface_static(type, G_TYPE_LIST_MODEL, &model);
    }
    return G_LIST_MODEL(g_object_new(type, NULL));
}

// `make` returns the widget of a row. `bind` fills it for a position; it also gets the enclosing row, whose name screen readers read.
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
// Replaces all rows, and selects none.
static inline void desktop_list_replace(GtkWidget *view, guint count) {
    desktop_list_select(view, GTK_INVALID_LIST_POSITION);
    GListModel *rows = gtk_single_selection_get_model(GTK_SINGLE_SELECTION(desktop_list_selection(view)));
    guint before = desktop_rows_count(rows);
    ((struct desktop_rows *)rows)->count = count;
    g_list_model_items_changed(rows, 0, before, count);
}
// Appends rows; the selection and the scroll position stay.
static inline void desktop_list_extend(GtkWidget *view, guint count) {
    GListModel *rows = gtk_single_selection_get_model(GTK_SINGLE_SELECTION(desktop_list_selection(view)));
    guint before = desktop_rows_count(rows);
    ((struct desktop_rows *)rows)->count = count;
    g_list_model_items_changed(rows, before, 0, count - before);
}

// Copies a secret. Clipboard managers that look for the hint's format do not record it. GTK offers the format, but cannot supply its value,
// since the name is no MIME type (gdk_intern_mime_type). Returns the content of the clipboard, for desktop_uncopy.
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
// Clears the clipboard, unless something else has been copied since.
static inline void desktop_uncopy(gpointer copied) {
    GdkClipboard *clipboard = gdk_display_get_clipboard(gdk_display_get_default());
    if (gdk_clipboard_get_content(clipboard) == copied) gdk_clipboard_set_content(clipboard, NULL);
    g_object_unref(copied);
}
static inline void desktop_copy_text(const char *text) { gdk_clipboard_set_text(gdk_display_get_clipboard(gdk_display_get_default()), text); }

// Rows of a short list that is created as a whole; the selection is -1 if there is none.
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

// The whole text of a text view. The caller frees it.
static inline char *desktop_text(GtkWidget *view) {
    GtkTextBuffer *buffer = gtk_text_view_get_buffer(GTK_TEXT_VIEW(view));
    GtkTextIter start, end;
    gtk_text_buffer_get_bounds(buffer, &start, &end);
    return gtk_text_buffer_get_text(buffer, &start, &end, FALSE);
}
static inline void desktop_set_text(GtkWidget *view, const char *text) { gtk_text_buffer_set_text(gtk_text_view_get_buffer(GTK_TEXT_VIEW(view)), text, -1); }

#endif
