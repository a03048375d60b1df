#ifndef VAUBAN_XML_H
#define VAUBAN_XML_H

#include <stddef.h>
#include <stdint.h>

// What is told of a document, in its order. Each answers 1, or 0 to end the reading there.
typedef struct {
    void *context;
    // An element begins, on this line. The attributes are names and values in turn, and NULL at the end.
    int (*begin)(void *context, const char *name, const char *const *attributes, size_t line);
    int (*end)(void *context);
    // A piece of text within an element, in UTF-8 and never cut within a character.
    int (*text)(void *context, const void *bytes, size_t count);
} vauban_xml_handlers;

typedef enum {
    VAUBAN_XML_WHOLE = 0,
    VAUBAN_XML_DAMAGED = 1,
    // A document type, which alone could declare entities: those grow, or name files.
    VAUBAN_XML_HAS_TYPE = 2,
    VAUBAN_XML_TOO_DEEP = 3,
    // A handler answered 0.
    VAUBAN_XML_STOPPED = 4,
} vauban_xml_outcome;

// Reads a document of at most 1 GiB with Expat, and overwrites what that had in memory meanwhile. `line` becomes the line at which it ended.
vauban_xml_outcome vauban_xml_read(
    const void *bytes, size_t count, const vauban_xml_handlers *handlers, size_t depth_max, size_t *line);

#endif
