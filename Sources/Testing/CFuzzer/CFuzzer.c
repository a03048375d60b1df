#include "CFuzzer.h"

__attribute__((weak)) int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*run)(const uint8_t *data, size_t size));

bool vauban_has_fuzz_engine(void) { return LLVMFuzzerRunDriver != NULL; }

int vauban_fuzz(int *argc, char ***argv, int (*run)(const uint8_t *data, size_t size)) { return LLVMFuzzerRunDriver(argc, argv, run); }
