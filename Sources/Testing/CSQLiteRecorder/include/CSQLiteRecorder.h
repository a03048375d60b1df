/* A layer under SQLite that writes down what it does to the files of a folder, in its order, and lets writes fail on demand.
   A test makes of that the disks that a power cut could leave. For tests only. */
#ifndef C_SQLITE_RECORDER_H
#define C_SQLITE_RECORDER_H

#include <stddef.h>
#include <stdint.h>

enum recorder_kind { RECORDER_CREATE, RECORDER_WRITE, RECORDER_TRUNCATE, RECORDER_SYNC, RECORDER_DELETE };

typedef struct {
    int kind;
    /* Which of the folder's files; recorder_name has its name. */
    int file;
    /* Of a write: where. Of a truncation: the new size. Of a deletion: 1 if the folder was synced. */
    int64_t offset;
    const uint8_t *bytes;
    size_t count;
} recorder_event;

typedef struct recorder recorder;

/* Begins to record what happens in a folder; its path ends without a slash. NULL when there is no memory. Files elsewhere
   are SQLite's own as before. Syncs are written down and not carried out. */
recorder *recorder_begin(const char *folder);
/* Ends it; every file of the folder is closed by then. */
void recorder_end(recorder *recorder);

size_t recorder_count(recorder *recorder);
recorder_event recorder_at(recorder *recorder, size_t index);
/* The file's name in the folder; NULL when there is no such number. */
const char *recorder_name(recorder *recorder, int file);

/* After `passing` more writes, truncations, syncs and deletions, `failing` of them fail as on a full disk, a write after its
   first half. */
void recorder_fail(recorder *recorder, int64_t passing, int64_t failing);

#endif
