#define _POSIX_C_SOURCE 200809L
#include "CSQLiteRecorder.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILES_MAX 16

struct recorder {
    char *folder;
    size_t folder_length;
    char *names[FILES_MAX];
    int file_count;
    recorder_event *events;
    size_t count, capacity;
    int64_t passing, failing;
    pthread_mutex_t lock;
    recorder *next;
};

typedef struct {
    sqlite3_file base;
    recorder *recorder;
    int file;
    /* The real file lies behind this one. */
    sqlite3_file *real;
} recorded_file;

static sqlite3_vfs *real_vfs;
static sqlite3_vfs layer;
static recorder *recorders;
static pthread_mutex_t recorders_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t installed = PTHREAD_ONCE_INIT;

static recorder *recorder_of(const char *path) {
    if (path == NULL) return NULL;
    pthread_mutex_lock(&recorders_lock);
    recorder *found = recorders;
    while (found != NULL && !(strncmp(path, found->folder, found->folder_length) == 0 && path[found->folder_length] == '/')) found = found->next;
    pthread_mutex_unlock(&recorders_lock);
    return found;
}

/* With the lock held; -1 when there are too many. */
static int file_of(recorder *recorder, const char *path) {
    const char *name = path + recorder->folder_length + 1;
    for (int index = 0; index < recorder->file_count; index++)
        if (strcmp(recorder->names[index], name) == 0) return index;
    if (recorder->file_count == FILES_MAX) return -1;
    char *copy = strdup(name);
    if (copy == NULL) return -1;
    recorder->names[recorder->file_count] = copy;
    return recorder->file_count++;
}

/* With the lock held. What cannot be written down must not happen, or the test would believe in another disk. */
static int note(recorder *recorder, int kind, int file, int64_t offset, const void *bytes, size_t count) {
    if (recorder->count == recorder->capacity) {
        size_t capacity = recorder->capacity == 0 ? 256 : recorder->capacity * 2;
        recorder_event *events = realloc(recorder->events, capacity * sizeof *events);
        if (events == NULL) return SQLITE_NOMEM;
        recorder->events = events;
        recorder->capacity = capacity;
    }
    uint8_t *copy = NULL;
    if (count > 0) {
        if ((copy = malloc(count)) == NULL) return SQLITE_NOMEM;
        memcpy(copy, bytes, count);
    }
    recorder->events[recorder->count++] = (recorder_event){kind, file, offset, copy, count};
    return SQLITE_OK;
}

/* With the lock held: whether this operation is one of those that fail. */
static int fails(recorder *recorder) {
    if (recorder->passing > 0) {
        recorder->passing--;
        return 0;
    }
    if (recorder->failing == 0) return 0;
    recorder->failing--;
    return 1;
}

/* MARK: Files */

static int file_close(sqlite3_file *file) { return ((recorded_file *)file)->real->pMethods->xClose(((recorded_file *)file)->real); }

static int file_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    sqlite3_file *real = ((recorded_file *)file)->real;
    return real->pMethods->xRead(real, bytes, count, offset);
}

static int file_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    recorded_file *recorded = (recorded_file *)file;
    recorder *recorder = recorded->recorder;
    pthread_mutex_lock(&recorder->lock);
    int failing = fails(recorder);
    if (failing) count /= 2;
    int result = count > 0 ? note(recorder, RECORDER_WRITE, recorded->file, offset, bytes, (size_t)count) : SQLITE_OK;
    if (result == SQLITE_OK && count > 0) result = recorded->real->pMethods->xWrite(recorded->real, bytes, count, offset);
    pthread_mutex_unlock(&recorder->lock);
    return failing ? SQLITE_FULL : result;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
    recorded_file *recorded = (recorded_file *)file;
    recorder *recorder = recorded->recorder;
    pthread_mutex_lock(&recorder->lock);
    int result = fails(recorder) ? SQLITE_IOERR_TRUNCATE : note(recorder, RECORDER_TRUNCATE, recorded->file, size, NULL, 0);
    if (result == SQLITE_OK) result = recorded->real->pMethods->xTruncate(recorded->real, size);
    pthread_mutex_unlock(&recorder->lock);
    return result;
}

static int file_sync(sqlite3_file *file, int flags) {
    (void)flags;
    recorded_file *recorded = (recorded_file *)file;
    recorder *recorder = recorded->recorder;
    pthread_mutex_lock(&recorder->lock);
    int result = fails(recorder) ? SQLITE_IOERR_FSYNC : note(recorder, RECORDER_SYNC, recorded->file, 0, NULL, 0);
    pthread_mutex_unlock(&recorder->lock);
    return result;
}

/* The rest is the real file's. */
#define REAL(file) ((recorded_file *)file)->real
static int file_size(sqlite3_file *file, sqlite3_int64 *size) { return REAL(file)->pMethods->xFileSize(REAL(file), size); }
static int file_lock(sqlite3_file *file, int kind) { return REAL(file)->pMethods->xLock(REAL(file), kind); }
static int file_unlock(sqlite3_file *file, int kind) { return REAL(file)->pMethods->xUnlock(REAL(file), kind); }
static int file_check_lock(sqlite3_file *file, int *is_locked) { return REAL(file)->pMethods->xCheckReservedLock(REAL(file), is_locked); }
static int file_control(sqlite3_file *file, int what, void *argument) { return REAL(file)->pMethods->xFileControl(REAL(file), what, argument); }
static int file_sector(sqlite3_file *file) { return REAL(file)->pMethods->xSectorSize(REAL(file)); }
static int file_device(sqlite3_file *file) { return REAL(file)->pMethods->xDeviceCharacteristics(REAL(file)); }
static int file_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **memory) {
    return REAL(file)->pMethods->xShmMap(REAL(file), page, size, extend, memory);
}
static int file_shm_lock(sqlite3_file *file, int offset, int count, int flags) { return REAL(file)->pMethods->xShmLock(REAL(file), offset, count, flags); }
static void file_shm_barrier(sqlite3_file *file) { REAL(file)->pMethods->xShmBarrier(REAL(file)); }
static int file_shm_unmap(sqlite3_file *file, int deletes) { return REAL(file)->pMethods->xShmUnmap(REAL(file), deletes); }

/* Version 2: shared memory for the log's index, and no mapping of the file, past which nothing could be seen. */
static const sqlite3_io_methods methods = {
    2, file_close, file_read, file_write, file_truncate, file_sync, file_size, file_lock, file_unlock, file_check_lock, file_control, file_sector,
    file_device, file_shm_map, file_shm_lock, file_shm_barrier, file_shm_unmap, NULL, NULL,
};

/* MARK: The layer */

static int layer_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *out) {
    (void)vfs;
    recorder *recorder = recorder_of(path);
    if (recorder == NULL) return real_vfs->xOpen(real_vfs, path, file, flags, out);
    recorded_file *recorded = (recorded_file *)file;
    recorded->base.pMethods = NULL;
    recorded->recorder = recorder;
    recorded->real = (sqlite3_file *)(recorded + 1);
    pthread_mutex_lock(&recorder->lock);
    recorded->file = file_of(recorder, path);
    int is_new = access(path, F_OK) != 0;
    int result = recorded->file < 0 ? SQLITE_CANTOPEN : real_vfs->xOpen(real_vfs, path, recorded->real, flags, out);
    if (result == SQLITE_OK) {
        recorded->base.pMethods = &methods;
        if (is_new) result = note(recorder, RECORDER_CREATE, recorded->file, 0, NULL, 0);
    }
    pthread_mutex_unlock(&recorder->lock);
    return result;
}

static int layer_delete(sqlite3_vfs *vfs, const char *path, int syncs_folder) {
    (void)vfs;
    recorder *recorder = recorder_of(path);
    if (recorder == NULL) return real_vfs->xDelete(real_vfs, path, syncs_folder);
    pthread_mutex_lock(&recorder->lock);
    int file = file_of(recorder, path);
    int is_there = access(path, F_OK) == 0;
    int result = is_there && fails(recorder) ? SQLITE_IOERR_DELETE : SQLITE_OK;
    if (result == SQLITE_OK && is_there) result = file < 0 ? SQLITE_IOERR_DELETE : note(recorder, RECORDER_DELETE, file, syncs_folder != 0, NULL, 0);
    if (result == SQLITE_OK) result = real_vfs->xDelete(real_vfs, path, 0);
    pthread_mutex_unlock(&recorder->lock);
    return result;
}

static void install(void) {
    sqlite3_initialize();
    real_vfs = sqlite3_vfs_find(NULL);
    layer = *real_vfs;
    layer.zName = "vauban-recorder";
    layer.szOsFile = (int)sizeof(recorded_file) + real_vfs->szOsFile;
    layer.pNext = NULL;
    layer.xOpen = layer_open;
    layer.xDelete = layer_delete;
    sqlite3_vfs_register(&layer, 1);
}

recorder *recorder_begin(const char *folder) {
    pthread_once(&installed, install);
    recorder *made = calloc(1, sizeof *made);
    if (made == NULL || (made->folder = strdup(folder)) == NULL) {
        free(made);
        return NULL;
    }
    made->folder_length = strlen(folder);
    pthread_mutex_init(&made->lock, NULL);
    pthread_mutex_lock(&recorders_lock);
    made->next = recorders;
    recorders = made;
    pthread_mutex_unlock(&recorders_lock);
    return made;
}

void recorder_end(recorder *recorder) {
    pthread_mutex_lock(&recorders_lock);
    struct recorder **link = &recorders;
    while (*link != NULL && *link != recorder) link = &(*link)->next;
    if (*link != NULL) *link = recorder->next;
    pthread_mutex_unlock(&recorders_lock);
    for (size_t index = 0; index < recorder->count; index++) free((void *)recorder->events[index].bytes);
    for (int index = 0; index < recorder->file_count; index++) free(recorder->names[index]);
    free(recorder->events);
    free(recorder->folder);
    pthread_mutex_destroy(&recorder->lock);
    free(recorder);
}

size_t recorder_count(recorder *recorder) {
    pthread_mutex_lock(&recorder->lock);
    size_t count = recorder->count;
    pthread_mutex_unlock(&recorder->lock);
    return count;
}

recorder_event recorder_at(recorder *recorder, size_t index) {
    pthread_mutex_lock(&recorder->lock);
    recorder_event event = index < recorder->count ? recorder->events[index] : (recorder_event){-1, -1, 0, NULL, 0};
    pthread_mutex_unlock(&recorder->lock);
    return event;
}

const char *recorder_name(recorder *recorder, int file) {
    pthread_mutex_lock(&recorder->lock);
    const char *name = file >= 0 && file < recorder->file_count ? recorder->names[file] : NULL;
    pthread_mutex_unlock(&recorder->lock);
    return name;
}

void recorder_fail(recorder *recorder, int64_t passing, int64_t failing) {
    pthread_mutex_lock(&recorder->lock);
    recorder->passing = passing;
    recorder->failing = failing;
    pthread_mutex_unlock(&recorder->lock);
}
