/* Powers modulo a number, by libgcrypt, for the key agreement of the Secret Service. */
#ifndef VAUBAN_GROUP_H
#define VAUBAN_GROUP_H

#include <stddef.h>
#include <stdint.h>

/* Prepares the library, before the process confines itself: 0, or -1 where it is unusable. */
int vauban_group_prepare(void);

/* base ^ exponent mod modulus, all big endian and of COUNT bytes; RESULT is padded with zeros on the left. The exponent is a secret: it
   lies in memory that is erased. 0, or -1. */
int vauban_group_power(const uint8_t *base, const uint8_t *exponent, const uint8_t *modulus, size_t count, uint8_t *result);

#endif
