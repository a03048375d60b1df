#!/usr/bin/env bash
# Links the fuzzers as `make fuzz` does, with the sanitizer and the engine, out of the objects of the release build, and runs each over its
# corpus. The objects count no edges: `make fuzz` compiles them again for that, which takes ten minutes.
set -u
build=${VAUBAN_BUILD:-.build/release}
fail() { echo "FAILED: $*"; exit 1; }
list=$build/fuzz.product/Objects.LinkFileList
[ -e "$list" ] || { echo 'the fuzzers are not built'; exit 77; }
resources=$(swiftc -print-target-info | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')
engine=$resources/clang/lib/linux/libclang_rt.fuzzer_no_main-$(uname -m).a
[ -e "$engine" ] || { echo 'this toolchain has no libFuzzer'; exit 77; }
# The manifest as `make fuzz` reads it instruments every target.
VAUBAN_FUZZ=1 swift package --scratch-path "$TMPDIR/scratch" dump-package >"$TMPDIR/manifest" 2>"$TMPDIR/log" &&
    grep -q 'sanitize=fuzzer,address' "$TMPDIR/manifest" || { tail -n 20 "$TMPDIR/log"; fail 'the manifest for fuzzing is invalid'; }
# The rooms' own `free` conflicts with the sanitizer (Package.swift).
for source in Sources/Host/CVaubanConfinement/*.c; do
    clang -O2 -fsanitize=address -DVAUBAN_CHECKED_ADDRESSES -ISources/Host/CVaubanConfinement/include -ISources/Host/CVaubanLinux/include \
        -c -o "$TMPDIR/${source##*/}.o" "$source" ||
        fail "$source does not compile for the fuzzers"
done
grep -v CVaubanConfinement.build "$list" >"$TMPDIR/objects"
swiftc -sanitize=address -emit-executable -o "$TMPDIR/fuzz" "@$TMPDIR/objects" "$TMPDIR"/*.c.o -L "$build" -lstdc++ -lseccomp \
    -Xlinker --defsym -Xlinker main=fuzz_main -Xlinker --gc-sections -Xlinker -u -Xlinker LLVMFuzzerRunDriver -Xlinker "$engine" \
    >"$TMPDIR/log" 2>&1 || { tail -n 20 "$TMPDIR/log"; fail 'the fuzzers do not link with their engine'; }
export SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0
for corpus in Fuzz/Corpus/*/; do
    target=$(basename "$corpus")
    VAUBAN_FUZZ_TARGET=$target "$TMPDIR/fuzz" -runs=0 -detect_leaks=0 "$corpus" </dev/null >"$TMPDIR/log" 2>&1 && grep -q '^Done [1-9]' "$TMPDIR/log" ||
        { tail -n 20 "$TMPDIR/log"; fail "$target does not run with the engine"; }
done
echo "every fuzzer links with its engine and reads its corpus"
