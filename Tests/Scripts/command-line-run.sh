#!/usr/bin/env bash
# vauban run: a command with secrets in its environment, which replaces this process; and errors before the command starts.
set -u
. Tests/Scripts/lib/command-line.sh
printf 'hunter2' | vauban set db/anna 2>/dev/null || fail 'set failed'
printf 'line one\nline two=3 %%s $x' | vauban set odd/value || fail 'set failed'
started() { [ ! -e "$TMPDIR/started" ] || fail "the command started: $*"; }
start="touch $TMPDIR/started"

# The secrets are in the command's environment, complete, beside the existing variables.
expect_status 0 env KEPT=yes OLD=no "$VAUBAN_BUILD/vauban" run --env PW=db/anna --env OLD=odd/value -- sh -c 'printf "%s|%s|%s" "$PW" "$OLD" "$KEPT"'
printf 'hunter2|line one\nline two=3 %%s $x|yes' | cmp - "$TMPDIR/out" || fail 'the command got something else'
[ ! -s "$TMPDIR/err" ] || { cat "$TMPDIR/err"; fail 'run printed something on standard error'; }
# They are not in the arguments.
vauban run --env PW=db/anna -- sh -c 'tr "\0" "\n" </proc/self/cmdline; tr "\0" "\n" </proc/$$/cmdline' >"$TMPDIR/out"
grep -q hunter2 "$TMPDIR/out" && fail 'the secret is in the arguments'

# The command has the same process, exit status, signals and input, and no descriptors of vauban.
"$VAUBAN_BUILD/vauban" run --env PW=db/anna -- sh -c 'echo $$' >"$TMPDIR/out" & pid=$!
wait $pid && [ "$(cat "$TMPDIR/out")" = $pid ] || fail 'the command runs in another process'
expect_status 7 vauban run --env PW=db/anna -- sh -c 'exit 7'
expect_status 143 vauban run --env PW=db/anna -- sh -c 'kill -TERM $$'
expect_status 130 vauban run --env PW=db/anna -- bash -c 'kill -INT $$'
# Signals from 32 on belong to the C library, which unblocks them in any program with threads.
signals() { while read -r name mask; do case $name in SigBlk: | SigIgn:) printf '%s %x\n' "$name" $((16#${mask: -8} & 0x7fffffff)) ;; esac; done; }
vauban run --env PW=db/anna -- cat /proc/self/status | signals >"$TMPDIR/out"
cat /proc/self/status | signals | diff - "$TMPDIR/out" || fail 'the command starts with other signals blocked'
[ "$(wc -l <"$TMPDIR/out")" = 2 ] || fail 'the signals cannot be read'
[ "$(echo typed | vauban run --env PW=db/anna -- cat)" = typed ] || fail 'standard input is not the command'"'"'s'
vauban run --env PW=db/anna -- sh -c 'ls /proc/$$/fd' 3>&- >"$TMPDIR/ours" 4>&- 5>&- </dev/null
sh -c 'ls /proc/$$/fd' 3>&- >"$TMPDIR/plain" 4>&- 5>&- </dev/null
diff "$TMPDIR/plain" "$TMPDIR/ours" || fail 'the command has descriptors of vauban'

# An error names the item, and the command does not start.
expect_status 44 vauban run --env PW=db/anna --env OTHER=no/such -- $start
expect_text 'no/such' "$TMPDIR/err"; started missing
printf 'a\0b' | vauban set bin/zero
expect_status 64 vauban run --env PW=bin/zero -- $start
expect_text 'bin/zero: The secret contains a zero byte' "$TMPDIR/err"; started zero
head -c 131069 /dev/zero | tr '\0' x | vauban set big/fits
head -c 131070 /dev/zero | tr '\0' x | vauban set big/over
[ "$(vauban run --env P=big/fits -- sh -c 'echo ${#P}')" = 131069 ] || fail 'the largest variable is refused'
expect_status 64 vauban run --env P=big/over -- $start
expect_text 'big/over' "$TMPDIR/err"; started large
printf x | vauban set db/bert
expect_status 64 vauban run --env PW=db -- $start
expect_text 'PW=db matches more than one item' "$TMPDIR/err"; started several
expect_status 127 vauban run --env PW=db/anna -- "$TMPDIR/no-such-command"
expect_text "vauban: Could not start $TMPDIR/no-such-command" "$TMPDIR/err"
expect_status 126 vauban run --env PW=db/anna -- /proc/version
grep -q hunter2 "$TMPDIR/err" && fail 'a message shows the secret'
for wrong in '--env PW=db/anna' "-- $start" "--env =db/anna -- $start" "--env 1A=db/anna -- $start" "--env A-B=db/anna -- $start" \
    "--env PW -- $start" "--env PW= -- $start" "--env PW=db/anna --env PW=odd/value -- $start"; do
    expect_status 64 vauban run $wrong; started "$wrong"
done

# One passcode approves an item and unlocks the keychain, and the command does not get it.
set_passcode
printf sealed | vauban set bank/anna --require presence
expect_status 36 detached run --no-input --env PW=bank/anna -- $start
expect_text 'bank/anna' "$TMPDIR/err"; started asks
vauban lock
printf '%s\n' "$passcode" >"$TMPDIR/passcode"
[ "$(vauban run --passcode-fd 9 --env PW=bank/anna -- sh -c 'printf %s "$PW"; [ ! -e /proc/$$/fd/9 ] || echo " and a descriptor"' 9<"$TMPDIR/passcode")" = sealed ] ||
    fail 'the passcode did not approve the item'
play "$VAUBAN_BUILD/vauban" run --env PW=bank/anna -- sh -c 'stty -a | grep -o " echo "; echo "got $PW"' >"$TMPDIR/out" \
    <<STEPS || { cat "$TMPDIR/out"; fail 'the prompt on the terminal failed'; }
expect Message:  “give bank/anna to sh”
expect Passcode
secret $passcode
expect echo
expect got sealed
STEPS
expect_status 0 vauban run --help
expect_text Example "$TMPDIR/out"
# A file of variables, whose values name items: quotes, comments, and a name with a space. Of two values the later one counts, and --env
# overrides any file.
printf 'with space' | vauban add -s 'mail box' -a anna && printf second | vauban add other/bert || fail 'add failed'
printf '%s\n' '# A comment, and an empty line' '' 'PLAIN=as it is' 'QUOTED="vauban://mail%20box/anna"' "export SINGLE='two words'" EMPTY= TWICE=earlier >"$TMPDIR/variables"
printf 'ASKED=vauban://other/bert\r\n' >>"$TMPDIR/variables"
printf 'TWICE=later\nBOTH=of the file\n' >"$TMPDIR/more"
expect_status 0 vauban run --env-file "$TMPDIR/variables" --env-file "$TMPDIR/more" --env BOTH=other/bert -- \
    sh -c 'printf "%s|%s|%s|%s|%s|%s|%s" "$PLAIN" "$QUOTED" "$SINGLE" "$EMPTY" "$TWICE" "$ASKED" "$BOTH"'
[ "$(cat "$TMPDIR/out")" = 'as it is|with space|two words||later|second|second' ] || { cat "$TMPDIR/out"; fail 'the variables differ'; }
printf 'A=vauban://no/such\n' >"$TMPDIR/missing"
expect_status 44 detached run --env-file "$TMPDIR/missing" -- touch "$TMPDIR/ran"
expect_text 'no/such' "$TMPDIR/err"
for line in 'no sign' '1A=b' 'A="open' 'A=vauban://' '=b'; do
    printf 'FINE=1\n%s\n' "$line" >"$TMPDIR/odd"
    expect_status 64 vauban run --env-file "$TMPDIR/odd" -- touch "$TMPDIR/ran"
    expect_text "$TMPDIR/odd, line 2:" "$TMPDIR/err"
done
expect_status 64 vauban run --env-file "$TMPDIR/none" -- touch "$TMPDIR/ran"
[ ! -e "$TMPDIR/ran" ] || fail 'the command was started without its secrets'
# A reference can be used in place of a name, and as the whole value of an inherited variable; --env and files override that.
printf again | vauban update vauban://other/bert && [ "$(vauban get vauban://other/bert)" = again ] || fail 'a reference does not work in place of a name'
[ "$(vauban get vauban://mail%20box/anna)" = 'with space' ] || fail 'an encoded space in a reference is not decoded'
expect_status 64 vauban get vauban://
expect_status 0 env PW=vauban://other/bert OTHER=vauban://no/such PART='see vauban://other/bert' "$VAUBAN_BUILD/vauban" \
    run --env OTHER=vauban://db/anna -- sh -c 'printf "%s|%s|%s" "$PW" "$OTHER" "$PART"'
[ "$(cat "$TMPDIR/out")" = 'again|hunter2|see vauban://other/bert' ] || { cat "$TMPDIR/out"; fail 'an inherited variable has another value'; }
expect_status 0 env PW=vauban://other/bert "$VAUBAN_BUILD/vauban" run -- sh -c 'printf %s "$PW"'
[ "$(cat "$TMPDIR/out")" = again ] || fail 'run does not replace a reference in an inherited variable'
expect_status 44 env PW=vauban://no/such "$VAUBAN_BUILD/vauban" run -- $start; expect_text 'No item no/such' "$TMPDIR/err"; started inherited
expect_status 64 env PW=vauban:// "$VAUBAN_BUILD/vauban" run -- $start; expect_text 'The variable PW has a wrong value' "$TMPDIR/err"; started inherited
echo 'run starts the command in place of vauban, with the secrets in its environment'
