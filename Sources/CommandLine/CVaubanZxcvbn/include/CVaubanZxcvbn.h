#ifndef VAUBAN_ZXCVBN_H
#define VAUBAN_ZXCVBN_H

#include <stddef.h>

// The binary logarithm of how many guesses zxcvbn reckons with for a passcode of `count` bytes: words, names, dates, rows of keys, and the
// user's own `words`, which end with NULL. Of a long passcode only the beginning is judged. -1 where it could not be reckoned.
// zxcvbn copies what it looks at into memory that it does not overwrite; so it runs in a process of its own, which ends with its memory.
double vauban_guesses_log2(const void *passcode, size_t count, const char *const words[]);

#endif
