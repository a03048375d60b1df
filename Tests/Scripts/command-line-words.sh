#!/usr/bin/env bash
# Mistakes: commands of other managers, misspelled names, output that cannot be written; and the exit statuses.
set -u
. Tests/Scripts/lib/command-line.sh
printf x | vauban add github/anna 2>/dev/null && printf y | vauban add mail/bert || fail 'add failed'

# Commands of other managers, and misspelled ones.
for pair in rm:delete ls:list insert:set lookup:get mv:rename cp:copy find-generic-password:get search:find init:setup delte:delete sett:set lsit:list; do
    expect_status 64 vauban "${pair%:*}" github/anna
    expect_text "No command ${pair%:*}." "$TMPDIR/err"
    grep -Eq "Did you mean (vauban [a-z]+, or )*vauban ${pair#*:}(, or|\\?)" "$TMPDIR/err" || { cat "$TMPDIR/err"; fail "${pair%:*} does not suggest ${pair#*:}"; }
    [ ! -s "$TMPDIR/out" ] || fail 'something was printed on standard output'
done
expect_status 64 vauban frobnicate
expect_text 'vauban help' "$TMPDIR/err"
expect_status 64 vauban "$(printf 'x\033[2J')"
grep -q "$(printf '\033')" "$TMPDIR/err" && fail 'an escape sequence reached the terminal'
[ "$(vauban get github/anna)" = x ] || fail 'a mistyped command changed an item'

for pair in signin:unlock signout:lock whoami:status pwgen:generate env:run config:settings otp:'code get' ssh-add:'ssh import'; do
    expect_status 64 vauban "${pair%:*}"
    expect_text "No command ${pair%:*}. Did you mean vauban ${pair#*:}?" "$TMPDIR/err"
done
expect_status 64 vauban ssh-add -l; expect_text 'No command ssh-add -l. Did you mean vauban ssh list?' "$TMPDIR/err"
expect_status 64 vauban op item get hunter2; expect_text 'No command op item get. Did you mean vauban show?' "$TMPDIR/err"
grep -q hunter2 "$TMPDIR/err" && fail 'a suggestion repeats an argument'
expect_status 64 vauban secret-tool lookup service github; expect_text 'No command secret-tool lookup. Did you mean vauban get?' "$TMPDIR/err"
expect_status 64 vauban passcode chnage; expect_text 'No command passcode chnage. Did you mean vauban passcode change?' "$TMPDIR/err"
expect_status 64 vauban ssh frobnicate; expect_text 'No command ssh frobnicate. To list commands: vauban help ssh' "$TMPDIR/err"
expect_status 64 vauban get github anna; expect_text 'vauban: An item is one argument, service/account: vauban get github/anna' "$TMPDIR/err"
expect_status 64 vauban get github/anna --no-such-option; expect_text 'vauban: Unknown option' "$TMPDIR/err"
expect_status 64 vauban get -dash/x; expect_text 'For a name that begins with a dash: vauban get -- -dash/x' "$TMPDIR/err"
expect_status 64 vauban get --dash/x; expect_text 'vauban get -- --dash/x' "$TMPDIR/err"
expect_status 64 vauban ssh add; expect_text 'No command ssh add. Did you mean vauban ssh import?' "$TMPDIR/err"
expect_status 64 vauban secretive; expect_text 'Did you mean vauban ssh new?' "$TMPDIR/err"
for verb in set add; do expect_status 64 vauban $verb '  ' <<<y; expect_text 'cannot consist of spaces only' "$TMPDIR/err"; done
expect_status 64 vauban login; expect_text 'vauban unlock' "$TMPDIR/err"
expect_status 64 vauban help frobnicate; expect_text 'No command frobnicate. To list commands: vauban help' "$TMPDIR/err"
expect_status 64 vauban help lookup; expect_text 'No command lookup. Did you mean vauban get?' "$TMPDIR/err"
expect_status 64 vauban help ssh frobnicate; expect_text 'No command ssh frobnicate. To list commands: vauban help ssh' "$TMPDIR/err"
expect_status 0 vauban help ssh new; expect_status 0 vauban help get
vauban help >"$TMPDIR/out"; expect_text 'RUN BY OTHER PROGRAMS:' "$TMPDIR/out"
grep -q 'SUBCOMMANDS:' "$TMPDIR/out" && fail 'the help has an additional heading'

# A secret as an argument: it is not repeated, nothing is stored, and the message names safe ways to pass it.
for verb in set add update; do
    expect_status 64 vauban $verb github/anna hunter2
    expect_text "To be asked: vauban $verb github/anna. From a pipe: printf %s \"\$secret\" | vauban $verb github/anna" "$TMPDIR/err"
    grep -q hunter2 "$TMPDIR/err" "$TMPDIR/out" && fail "$verb repeats a secret"
done
expect_status 64 vauban set github/anna --lenght 20; expect_text "Unknown option '--lenght'. Did you mean '--length'?" "$TMPDIR/err"
expect_status 64 vauban set -s github -a anna -w hunter2; expect_text 'A secret is never an argument' "$TMPDIR/err"
grep -q hunter2 "$TMPDIR/err" && fail 'set -w repeats a secret'
for words in unlock recover 'passcode set' 'code add other/anna'; do
    # shellcheck disable=SC2086
    expect_status 64 vauban $words hunter2; expect_text 'If this was one, it was visible: change it' "$TMPDIR/err"
    grep -q hunter2 "$TMPDIR/err" && fail "$words repeats a secret"
done
expect_status 64 vauban delete github/anna mail; expect_text 'vauban delete takes one item' "$TMPDIR/err"
expect_status 64 vauban set https://shop.example/anna <<<x; expect_text 'vauban set --url https://anna@example.com/' "$TMPDIR/err"
expect_status 64 vauban find --url example.com; expect_text 'vauban: A URL needs a scheme' "$TMPDIR/err"
expect_status 64 vauban run --env PW=vauban:// -- true; expect_text 'the item is missing' "$TMPDIR/err"
expect_status 64 vauban security delete-keychain; expect_text 'No command corresponds to this one of security' "$TMPDIR/err"
expect_status 64 vauban set github/anna correct horse; grep -qE 'correct|horse' "$TMPDIR/err" && fail 'set repeats a secret of two words'
[ "$(vauban get github/anna)" = x ] || fail 'a secret was taken from the arguments'

# Misspelled names: a user at a terminal gets a suggestion, a script only the error.
for verb in get show 'edit --label x' 'rename --as a/b' 'move --to b'; do
    # shellcheck disable=SC2086
    play "$VAUBAN_BUILD/vauban" ${verb%% *} githb/anna $(case $verb in *' '*) printf '%s' "${verb#* }" ;; esac) </dev/null >"$TMPDIR/out"
    [ $? = 44 ] || { cat "$TMPDIR/out"; fail "$verb with a misspelled name does not end with 44"; }
    expect_text 'No item githb/anna. Did you mean github/anna?' "$TMPDIR/out"
done
play "$VAUBAN_BUILD/vauban" get GITHUB/Anna </dev/null >"$TMPDIR/out"; expect_text 'Did you mean github/anna?' "$TMPDIR/out"
play "$VAUBAN_BUILD/vauban" get maill </dev/null >"$TMPDIR/out"; expect_text 'Did you mean mail?' "$TMPDIR/out"
play "$VAUBAN_BUILD/vauban" get anna </dev/null >"$TMPDIR/out"; expect_text 'No item anna. Did you mean github/anna?' "$TMPDIR/out"
expect_status 44 vauban get https://example.com/; expect_text 'To select a website'"'"'s password by its address, use --url' "$TMPDIR/err"
play "$VAUBAN_BUILD/vauban" get quite/another </dev/null >"$TMPDIR/out"; grep -q 'Did you mean' "$TMPDIR/out" && fail 'a name without similarity is suggested'
expect_status 44 detached get githb/anna
expect_text 'No item githb/anna. To list items' "$TMPDIR/err"

# Output that could not be written completely is an error.
for words in list 'list --json' 'show github/anna' 'find anna' 'status' 'settings' --help 'help get' --version doctor; do
    # shellcheck disable=SC2086
    vauban $words >/dev/full 2>"$TMPDIR/err"
    [ $? = 53 ] || { cat "$TMPDIR/err"; fail "$words into a full file does not end with 53"; }
    expect_text 'could not be written' "$TMPDIR/err"
done
vauban get github/anna >/dev/full 2>"$TMPDIR/err"; [ $? = 53 ] || fail 'get into a full file does not end with 53'

# Exit statuses of the manual that earlier versions did not return.
head -c 1048577 /dev/zero >"$TMPDIR/large"
expect_status 64 vauban add large/one <"$TMPDIR/large"
expect_status 64 vauban import "$TMPDIR/none.csv"
expect_status 64 vauban add bytes/odd --hex <<<abc
echo 'mistakes are answered with the way out, and exit statuses are those of the manual'
