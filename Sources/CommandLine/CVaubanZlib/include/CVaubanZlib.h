#ifndef VAUBAN_ZLIB_H
#define VAUBAN_ZLIB_H

#include <stddef.h>
#include <stdint.h>

// Takes a raw deflate stream (RFC 1951) apart into exactly `target_bytes` bytes, and overwrites what zlib had in memory meanwhile.
// Answers 1, or 0 where the stream is damaged or of any other length.
int vauban_inflate(const uint8_t *source, size_t source_bytes, uint8_t *target, size_t target_bytes);

// The CRC-32 of a ZIP archive.
uint32_t vauban_crc32(const uint8_t *bytes, size_t count);

#endif
