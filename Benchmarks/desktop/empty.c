/* A minimal window of GTK 4, without content. */
#include <gtk/gtk.h>

static void activate(GtkApplication *application) {
    GtkWidget *window = gtk_application_window_new(application);
    gtk_window_set_title(GTK_WINDOW(window), "Empty");
    gtk_window_set_default_size(GTK_WINDOW(window), 1080, 690);
    gtk_window_present(GTK_WINDOW(window));
}

int main(int count, char **words) {
    GtkApplication *application = gtk_application_new(NULL, G_APPLICATION_NON_UNIQUE);
    g_signal_connect(application, "activate", G_CALLBACK(activate), NULL);
    return g_application_run(G_APPLICATION(application), count, words);
}
