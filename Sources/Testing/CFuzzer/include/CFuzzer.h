// libFuzzer's own loop, called from our main, since a Swift program brings its own.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Whether the engine is linked: `make fuzz` does that, every other build has none.
bool vauban_has_fuzz_engine(void);

// Runs the engine until it ends, with its own options in the arguments. Only where there is one.
int vauban_fuzz(int *argc, char ***argv, int (*run)(const uint8_t *data, size_t size));
