#define _DEFAULT_SOURCE
#include "CVaubanXML.h"

#include <expat.h>
#include <stdlib.h>
#include <string.h>

// Expat has a copy of what it reads; its memory is overwritten when it goes. The length stands before each block.
enum { HEAD_BYTES = 16, DOCUMENT_BYTES_MAX = 1 << 30 };

static void *take(size_t bytes) {
    if (bytes > SIZE_MAX - HEAD_BYTES) return NULL;
    unsigned char *block = malloc(bytes + HEAD_BYTES);
    if (!block) return NULL;
    memcpy(block, &bytes, sizeof bytes);
    return block + HEAD_BYTES;
}

static size_t length(const void *given) {
    size_t bytes;
    memcpy(&bytes, (const unsigned char *)given - HEAD_BYTES, sizeof bytes);
    return bytes;
}

static void give_back(void *given) {
    if (!given) return;
    explicit_bzero(given, length(given));
    free((unsigned char *)given - HEAD_BYTES);
}

static void *take_more(void *given, size_t bytes) {
    void *block = take(bytes);
    if (!block || !given) return block;
    memcpy(block, given, length(given) < bytes ? length(given) : bytes);
    give_back(given);
    return block;
}

struct reading {
    XML_Parser parser;
    const vauban_xml_handlers *handlers;
    size_t depth;
    size_t depth_max;
    vauban_xml_outcome outcome;
};

static void stop(struct reading *reading, vauban_xml_outcome why) {
    reading->outcome = why;
    XML_StopParser(reading->parser, XML_FALSE);
}

// Expat may call once more after it was told to stop.
static void XMLCALL begin(void *context, const XML_Char *name, const XML_Char **attributes) {
    struct reading *reading = context;
    if (reading->outcome != VAUBAN_XML_WHOLE) return;
    if (++reading->depth > reading->depth_max) {
        stop(reading, VAUBAN_XML_TOO_DEEP);
        return;
    }
    size_t line = XML_GetCurrentLineNumber(reading->parser);
    const vauban_xml_handlers *handlers = reading->handlers;
    if (!handlers->begin(handlers->context, name, (const char *const *)attributes, line)) stop(reading, VAUBAN_XML_STOPPED);
}

static void XMLCALL end(void *context, const XML_Char *name) {
    (void)name;
    struct reading *reading = context;
    if (reading->outcome != VAUBAN_XML_WHOLE) return;
    reading->depth--;
    if (!reading->handlers->end(reading->handlers->context)) stop(reading, VAUBAN_XML_STOPPED);
}

static void XMLCALL text(void *context, const XML_Char *bytes, int count) {
    struct reading *reading = context;
    if (reading->outcome != VAUBAN_XML_WHOLE || count <= 0) return;
    if (!reading->handlers->text(reading->handlers->context, bytes, (size_t)count)) stop(reading, VAUBAN_XML_STOPPED);
}

static void XMLCALL type(void *context, const XML_Char *name, const XML_Char *system, const XML_Char *public, int has_subset) {
    (void)name, (void)system, (void)public, (void)has_subset;
    struct reading *reading = context;
    if (reading->outcome == VAUBAN_XML_WHOLE) stop(reading, VAUBAN_XML_HAS_TYPE);
}

vauban_xml_outcome vauban_xml_read(
    const void *bytes, size_t count, const vauban_xml_handlers *handlers, size_t depth_max, size_t *line) {
    *line = 1;
    if (count > DOCUMENT_BYTES_MAX) return VAUBAN_XML_DAMAGED;
    const XML_Memory_Handling_Suite memory = {take, take_more, give_back};
    struct reading reading = {XML_ParserCreate_MM(NULL, &memory, NULL), handlers, 0, depth_max, VAUBAN_XML_WHOLE};
    if (!reading.parser) return VAUBAN_XML_DAMAGED;
    XML_SetUserData(reading.parser, &reading);
    XML_SetElementHandler(reading.parser, begin, end);
    XML_SetCharacterDataHandler(reading.parser, text);
    XML_SetStartDoctypeDeclHandler(reading.parser, type);
    // At once: fed in pieces, Expat before 2.6 begins again with each piece of a long attribute.
    enum XML_Status status = XML_Parse(reading.parser, bytes, (int)count, XML_TRUE);
    *line = XML_GetCurrentLineNumber(reading.parser);
    XML_ParserFree(reading.parser);
    if (reading.outcome != VAUBAN_XML_WHOLE) return reading.outcome;
    return status == XML_STATUS_OK ? VAUBAN_XML_WHOLE : VAUBAN_XML_DAMAGED;
}
