/* Exports sd-bus itself for a process that offers objects. Swift reads and writes messages with its functions for single values. */
#ifndef VAUBAN_SYSTEMD_BUS_H
#define VAUBAN_SYSTEMD_BUS_H

#include <systemd/sd-bus.h>

#endif
