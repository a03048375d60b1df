#ifndef VAUBAN_ZXCVBN_H
#define VAUBAN_ZXCVBN_H

#include <stddef.h>

// The base-2 logarithm of the number of guesses that zxcvbn estimates for a passcode of `count` bytes from words, names, dates, rows of
// keys, and the user's own `words`, which end with NULL. Only the first 100 bytes are evaluated. Returns -1 if the estimate failed. zxcvbn
// copies what it reads into memory that it does not overwrite; therefore it runs in a process of its own, which ends with its memory.
double vauban_guesses_log2(const void *passcode, size_t count, const char *const words[]);

#endif
