/* A minimal window of GTK: a line of text, an entry and a button, created once, then shown and hidden COUNT times. Its input is the output
   of `eyes`. It prints for each time how long the window took to be on the screen, and to be drawn, in nanoseconds. */
#include "now.h"
#include <glib-unix.h>
#include <gtk/gtk.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static GtkWidget *window;
static uint64_t asked_at, mapped_at;
static int left;

static gboolean ask(gpointer data) {
    (void)data;
    asked_at = now_ns();
    gtk_window_present(GTK_WINDOW(window));
    return G_SOURCE_REMOVE;
}

static gboolean saw(GIOChannel *channel, GIOCondition condition, gpointer data) {
    char *line = NULL, what[16];
    unsigned long long when;
    (void)condition, (void)data;
    if (g_io_channel_read_line(channel, &line, NULL, NULL, NULL) != G_IO_STATUS_NORMAL || sscanf(line, "%15s %llu", what, &when) != 2) exit(1);
    g_free(line);
    if (strcmp(what, "mapped") == 0) mapped_at = when;
    if (strcmp(what, "drawn") == 0) {
        printf("%llu %llu\n", (unsigned long long)(mapped_at - asked_at), (unsigned long long)(when - asked_at));
        gtk_widget_set_visible(window, FALSE);
    }
    if (strcmp(what, "gone") == 0) {
        if (--left == 0) exit(0);
        g_idle_add(ask, NULL);
    }
    return G_SOURCE_CONTINUE;
}

int main(int count, char **words) {
    left = count > 1 ? atoi(words[1]) : 1;
    setenv("GSK_RENDERER", "cairo", 0);
    if (!gtk_init_check()) return 69;
    window = gtk_window_new();
    GtkWidget *column = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12);
    gtk_box_append(GTK_BOX(column), gtk_label_new("The least window that can ask."));
    gtk_box_append(GTK_BOX(column), gtk_password_entry_new());
    gtk_box_append(GTK_BOX(column), gtk_button_new_with_label("Allow"));
    gtk_window_set_child(GTK_WINDOW(window), column);
    GIOChannel *channel = g_io_channel_unix_new(0);
    g_io_add_watch(channel, G_IO_IN | G_IO_HUP, saw, NULL);
    g_idle_add(ask, NULL);
    g_main_loop_run(g_main_loop_new(NULL, FALSE));
}
