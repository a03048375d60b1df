#define _DEFAULT_SOURCE
#include "CVaubanZlib.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

// zlib keeps the last 32 KiB of what it took apart; its memory is overwritten when it goes. The length stands before each block.
static voidpf take(voidpf unused, uInt count, uInt size) {
    (void)unused;
    size_t bytes;
    if (__builtin_mul_overflow((size_t)count, (size_t)size, &bytes) || bytes > SIZE_MAX - 16) return Z_NULL;
    unsigned char *block = calloc(1, bytes + 16);
    if (!block) return Z_NULL;
    memcpy(block, &bytes, sizeof bytes);
    return block + 16;
}

static void give_back(voidpf unused, voidpf given) {
    (void)unused;
    unsigned char *block = (unsigned char *)given - 16;
    size_t bytes;
    memcpy(&bytes, block, sizeof bytes);
    explicit_bzero(block + 16, bytes);
    free(block);
}

int vauban_inflate(const uint8_t *source, size_t source_bytes, uint8_t *target, size_t target_bytes) {
    if (source_bytes > UINT_MAX || target_bytes > UINT_MAX) return 0;
    z_stream stream = {.zalloc = take, .zfree = give_back};
    stream.next_in = (Bytef *)source;
    stream.avail_in = (uInt)source_bytes;
    stream.next_out = target;
    stream.avail_out = (uInt)target_bytes;
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return 0;
    int ended = inflate(&stream, Z_FINISH);
    int is_whole = ended == Z_STREAM_END && stream.avail_out == 0 && stream.avail_in == 0;
    inflateEnd(&stream);
    return is_whole;
}

uint32_t vauban_crc32(const uint8_t *bytes, size_t count) {
    uLong sum = crc32(0, Z_NULL, 0);
    return (uint32_t)crc32_z(sum, bytes, count);
}
