#define _GNU_SOURCE
#include "CVaubanLinux.h"

#include <locale.h>
#include <pthread.h>
#include <wchar.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static locale_t unicode;

static void find_locale(void) { unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0); }

int vauban_columns(uint32_t scalar) {
    pthread_once(&once, find_locale);
    if (unicode == (locale_t)0) return 1;
    locale_t before = uselocale(unicode);
    int columns = wcwidth((wchar_t)scalar);
    uselocale(before);
    return columns;
}
