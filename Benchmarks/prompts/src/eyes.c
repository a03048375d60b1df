/* Reports windows on an X display: prints `mapped T` when the server has put one on the screen, `drawn T` when something is visible in it,
   and `gone T` when it is off the screen. It waits for the server's events and never polls. */
#include "now.h"
#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <X11/extensions/Xdamage.h>
#include <stdbool.h>
#include <stdio.h>

/* Smaller windows belong to the toolkit and are not visible. */
#define WIDTH_MIN 100

static int ignore(Display *display, XErrorEvent *event) {
    /* A window may already be gone when it is queried. */
    (void)display, (void)event;
    return 0;
}

/* A window begins in one color. That is drawn too, but shows nothing yet. */
static bool shows_something(Display *display, Window window) {
    XWindowAttributes is;
    XImage *image = XGetWindowAttributes(display, window, &is) ? XGetImage(display, window, 0, 0, is.width, is.height, AllPlanes, ZPixmap) : NULL;
    if (!image) return false;
    unsigned long first = XGetPixel(image, 0, 0);
    bool found = false;
    for (int y = 0; y < is.height && !found; y++)
        for (int x = 0; x < is.width && !found; x++) found = XGetPixel(image, x, y) != first;
    XDestroyImage(image);
    return found;
}

static void say(const char *what, uint64_t when) {
    printf("%s %llu\n", what, (unsigned long long)when);
    fflush(stdout);
}

int main(void) {
    Display *display = XOpenDisplay(NULL);
    int damage_event, unused;
    if (!display || !XDamageQueryExtension(display, &damage_event, &unused)) return 1;
    XSetErrorHandler(ignore);
    XSelectInput(display, DefaultRootWindow(display), SubstructureNotifyMask);
    XFlush(display);
    Window seen = None;
    Damage damage = None;
    for (;;) {
        XEvent event;
        XNextEvent(display, &event);
        uint64_t now = now_ns();
        if (event.type == MapNotify && seen == None) {
            XWindowAttributes is;
            if (!XGetWindowAttributes(display, event.xmap.window, &is) || is.width < WIDTH_MIN) continue;
            seen = event.xmap.window;
            damage = XDamageCreate(display, seen, XDamageReportNonEmpty);
            XFlush(display);
            say("mapped", now);
        } else if (event.type == damage_event && damage != None) {
            XDamageSubtract(display, damage, None, None);
            XFlush(display);
            if (!shows_something(display, seen)) continue;
            XDamageDestroy(display, damage);
            damage = None;
            say("drawn", now);
        } else if (event.type == UnmapNotify && event.xunmap.window == seen) {
            seen = None;
            say("gone", now);
        }
    }
}
