#include "CVaubanGroup.h"

#include <gcrypt.h>
#include <string.h>

#define SECURE_BYTES 65536

int vauban_group_prepare(void) {
    if (!gcry_check_version(NULL)) return -1;
    gcry_control(GCRYCTL_DISABLE_SECMEM_WARN);
    if (gcry_control(GCRYCTL_INIT_SECMEM, SECURE_BYTES, 0) && !gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P)) return -1;
    gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
    return 0;
}

int vauban_group_power(const uint8_t *base, const uint8_t *exponent, const uint8_t *modulus, size_t count, uint8_t *result) {
    gcry_mpi_t b = NULL, e = NULL, m = NULL, r = gcry_mpi_snew(0);
    uint8_t *secure = gcry_malloc_secure(count);
    size_t written = 0;
    int done = -1;
    if (!secure || !r) goto out;
    /* From secure memory the library makes a number in secure memory, and takes the same time for every exponent. */
    memcpy(secure, exponent, count);
    if (gcry_mpi_scan(&b, GCRYMPI_FMT_USG, base, count, NULL) || gcry_mpi_scan(&e, GCRYMPI_FMT_USG, secure, count, NULL) ||
        gcry_mpi_scan(&m, GCRYMPI_FMT_USG, modulus, count, NULL))
        goto out;
    gcry_mpi_powm(r, b, e, m);
    if (gcry_mpi_print(GCRYMPI_FMT_USG, secure, count, &written, r) || written > count) goto out;
    memset(result, 0, count - written);
    memcpy(result + count - written, secure, written);
    done = 0;
out:
    gcry_mpi_release(b);
    gcry_mpi_release(e);
    gcry_mpi_release(m);
    gcry_mpi_release(r);
    gcry_free(secure);
    return done;
}
