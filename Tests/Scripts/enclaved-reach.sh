#!/usr/bin/env bash
# The libraries and modules that enclaved was linked with, read from the program itself: the table of imports lists what its sources name, this
# test what the program contains.
set -u
program=$VAUBAN_BUILD/enclaved
[ -x "$program" ] || { echo 'enclaved is not built'; exit 77; }
command -v readelf >/dev/null && command -v nm >/dev/null || { echo 'there is no readelf or nm here'; exit 77; }

# A list of what is permitted, not of what is forbidden: a new library in the enclave is a decision, and is listed here.
allowed='^(ld-linux.*|libc|libm|libgcc_s|libseccomp|libstdc\+\+|libpthread|libdl|libutil|libdispatch|libBlocksRuntime|libswift.*|libFoundation|libFoundationEssentials|libFoundationInternationalization|lib_FoundationICU)\.so'
readelf -d "$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p' >"$TMPDIR/libraries"
[ -s "$TMPDIR/libraries" ] || { echo 'no libraries found: the check would prove nothing'; exit 1; }
if grep -vE "$allowed" "$TMPDIR/libraries"; then echo 'enclaved is linked with a library that it must not hold'; exit 1; fi

# Packages are linked statically, so they show only as symbols: a mangled Swift name begins with its module's.
nm "$program" >"$TMPDIR/symbols" 2>/dev/null
grep -q '\$s7Enclave' "$TMPDIR/symbols" || { echo 'no symbols found: the check would prove nothing'; exit 77; }
if grep -m 5 -E '\$s(4GRDB|8SwiftCSV|[0-9]+NIO[A-Z]|20FoundationNetworking)|sqlite3_|sd_bus_|curl_easy' "$TMPDIR/symbols"; then
    echo 'enclaved holds code of a database, a bus or a network'
    exit 1
fi
echo 'enclaved holds neither a database nor a bus nor a network'
