#!/usr/bin/env bash
# Editing, renaming, copying and moving items: what changes, what stays, and that no secret is typed or shown.
set -u
. Tests/Scripts/lib/command-line.sh
set_passcode
unlock
# part NAME ITEM...: prints one line of the output of show.
part() { key=$1; shift; vauban show "$@" | sed -n "s/^$key: *//p"; }
# same WHAT A B
same() { [ "$2" = "$3" ] || fail "$1: \"$2\" is not \"$3\""; }

printf hunter2 | vauban add github/anna || fail 'add failed'
printf web | vauban add --url https://anna@example.com:8443/login || fail 'add --url failed'
created=$(part Created github/anna)
[ -n "$created" ] || fail 'show prints no date of creation'

# Attributes, by options; all others are unchanged.
expect_status 0 vauban edit github/anna --label 'GitHub, work' --comment 'two
lines' --tag work --tag bank --description login
same Label "$(part Label github/anna)" 'GitHub, work'
same Tags "$(part Tags github/anna)" 'work, bank'
same Comment "$(vauban show github/anna | grep -A 1 '^Comment:')" 'Comment:         two
                 lines'
same Description "$(part Description github/anna)" login
same Created "$(part Created github/anna)" "$created"
same secret "$(vauban get github/anna)" hunter2
expect_status 0 vauban edit github/anna --tag home --untag bank --notes new
same Tags "$(part Tags github/anna)" 'work, home'
same Comment "$(part Comment github/anna)" new
same Label "$(part Label github/anna)" 'GitHub, work'
same 'find --tag' "$(vauban find --tag home | cut -f1)" github/anna
expect_status 44 vauban find --tag bank
same 'list --tag' "$(vauban list --tag home | cut -f1)" github/anna
same 'list with two tags' "$(vauban list --tag home --tag work | cut -f1)" github/anna
for words in '--tag bank' '--tag home --tag bank' '--tag hom' '--tag HOME' '--server nowhere --tag home' '--deleted --tag home'; do
    # Unquoted deliberately: options and their values.
    # shellcheck disable=SC2086
    expect_status 44 vauban list $words
done
vauban show github/anna --json >"$TMPDIR/json"
expect_text '"comment" : "new"' "$TMPDIR/json"
tr -d ' \n' <"$TMPDIR/json" | grep -qF '"tags":["work","home"]' || fail 'tags are not an array in JSON'
# add --json accepts the output of show --json, and the tags are the same.
sed 's/"service" : "github"/"service" : "again", "secret" : "s"/' "$TMPDIR/json" | vauban add --json - || fail 'add --json does not accept the output of show --json'
same 'tags again' "$(part Tags again/anna)" 'work, home'
expect_status 0 vauban edit github/anna --untag work --untag home --comment ''
same 'no comment' "$(vauban show github/anna | grep -c '^\(Comment\|Tags\):')" 0
expect_status 64 vauban edit github/anna --tag 'a,b'
expect_text 'a tag must not contain a comma' <(tr '[:upper:]' '[:lower:]' <"$TMPDIR/err")
# A comment that only looks like tags stays a comment.
expect_status 0 vauban edit github/anna --comment 'Tags: a,b'
same Comment "$(part Comment github/anna)" 'Tags: a,b'
expect_status 0 vauban edit github/anna --tag c
same Comment "$(part Comment github/anna)" 'Tags: a,b'
same Tags "$(part Tags github/anna)" c

# User and URL; a label that equals the name changes with it, and one that the user chose is unchanged.
expect_status 0 vauban edit again/anna --user bert
same secret "$(vauban get again/bert)" s
expect_status 0 vauban edit --server example.com --website https://example.org/in
same address "$(vauban get --url https://anna@example.org/in)" web
same Label "$(part Label --server example.org)" example.org
expect_status 44 vauban get --server example.com
expect_status 64 vauban edit github/anna --website https://example.org/
expect_text 'has no URL' "$TMPDIR/err"
expect_status 64 vauban edit github/anna --website https://anna:secret@example.org/

# Names that exist already: this is reported, and nothing is lost.
printf other | vauban add github/bert || fail 'add failed'
expect_status 45 vauban edit github/bert --user anna
expect_text 'github/anna; nothing was changed' "$TMPDIR/err"
expect_status 45 vauban rename github/bert github/anna
expect_status 45 vauban copy github/bert github/anna
same secret "$(vauban get github/anna)$(vauban get github/bert)" hunter2other

# Renaming.
expect_status 0 vauban rename github/anna forge/anna
[ ! -s "$TMPDIR/out" ] || fail 'rename printed something'
same secret "$(vauban get forge/anna)" hunter2
same Created "$(part Created forge/anna)" "$created"
same Label "$(part Label forge/anna)" 'GitHub, work'
same Tags "$(part Tags forge/anna)" c
expect_status 44 vauban get github/anna
expect_status 0 vauban rename github/bert forge
same Label "$(part Label --service forge --account '')" forge
expect_status 0 vauban rename --service forge --account anna --as github/anna
expect_status 0 vauban rename example.org/anna example.net/anna
same 'port and path' "$(vauban get --url https://anna@example.net/in)" web
expect_status 44 vauban rename nothing/here some/thing
expect_status 64 vauban rename github/anna
expect_status 64 vauban rename github/anna /x
expect_status 64 vauban rename forge github x

# A copy is a separate item.
expect_status 0 vauban copy github/anna github/copy
same secret "$(vauban get github/copy)" hunter2
same Tags "$(part Tags github/copy)" c
printf changed | vauban update github/copy || fail 'update failed'
same original "$(vauban get github/anna)" hunter2
expect_status 64 vauban copy github/anna

# Access groups: in user mode only a name that distinguishes items.
for verb in 'move github/copy --to' 'copy github/anna --to' 'edit github/copy --group'; do
    # Unquoted deliberately: several words.
    # shellcheck disable=SC2086
    expect_status 64 vauban $verb elsewhere; expect_text 'No owner can have the name elsewhere; an owner is cli, a program such as' "$TMPDIR/err"
done
same Owner "$(part Owner github/copy)" cli
expect_status 0 vauban copy github/anna --to team.app
expect_status 64 vauban get github/anna
same copies "$(vauban get github/anna --owner team.app)$(vauban get github/anna --owner cli)" hunter2hunter2
expect_status 0 vauban move github/copy --to team.app
same Owner "$(part Owner github/copy)" team.app
same secret "$(vauban get github/copy)" changed
expect_status 0 vauban edit github/copy --group other.app --label moved
same Owner "$(part Owner github/copy)$(part Label github/copy)" other.appmoved
expect_status 0 vauban copy github/anna github/copy --owner cli
expect_status 45 vauban move github/copy --owner other.app --to cli
same secret "$(vauban get github/copy --owner other.app)" changed

# Protection, without the secret; an item that requires approval prompts.
expect_status 0 vauban edit github/anna --owner team.app --require presence --when after-first-unlock --this-device
same Readable "$(part Readable github/anna --owner team.app)" 'after-first-unlock, this device only'
same Prompts "$(part Prompts github/anna --owner team.app)" yes
expect_status 36 detached edit github/anna --owner team.app --label x
expect_status 36 detached copy github/anna other/anna --owner team.app
expect_status 36 detached move github/anna --owner team.app --to elsewhere.app
same Label "$(part Label github/anna --owner team.app)" 'GitHub, work'
play "$VAUBAN_BUILD/vauban" edit github/anna --owner team.app --require nothing --no-this-device >"$TMPDIR/out" \
    <<STEPS || { cat "$TMPDIR/out"; fail 'the requirement cannot be removed'; }
expect edit github/anna
expect Passcode (
absent hunter2
secret $passcode
STEPS
same Readable "$(part Readable github/anna --owner team.app)" after-first-unlock
same Prompts "$(part Prompts github/anna --owner team.app)" no
same secret "$(vauban get github/anna --owner team.app)" hunter2
grep -q hunter2 "$TMPDIR/out" && fail 'the secret was shown'

# In an editor, which gets everything but the secret, in a file in memory.
cat >"$TMPDIR/editor" <<'EDITOR'
#!/bin/sh
cp "$2" "$1/seen"; stat -f -c %T "$2" >"$1/where"; stat -c %a "$2" >"$1/mode"; ls -d "${2%/*}" >"$1/folder"
[ ! -e "$1/sed" ] || sed -i -f "$1/sed" "$2"
EDITOR
chmod +x "$TMPDIR/editor"
export VISUAL="$TMPDIR/editor $TMPDIR"
edited() { play "$VAUBAN_BUILD/vauban" edit "$@" </dev/null >"$TMPDIR/out"; }
edited github/copy --owner other.app || { cat "$TMPDIR/out"; fail 'edit in an editor failed'; }
expect_text 'No changes' "$TMPDIR/out"
expect_text 'Label: moved' "$TMPDIR/seen"
expect_text 'Tags: c' "$TMPDIR/seen"
grep -q changed "$TMPDIR/seen" && fail 'the secret is in the file'
same 'file system' "$(cat "$TMPDIR/where")" tmpfs
same mode "$(cat "$TMPDIR/mode")" 600
[ ! -e "$(cat "$TMPDIR/folder")" ] || fail 'the file for the editor was not removed'
printf '%s\n' 's/^Label:.*/Label: by hand/' '0,/^Tags:.*/s//Tags: one,  two ,one/' 's/^Account:.*/Account: carl/' '$a\' '$a the end' >"$TMPDIR/sed"
sed -i '/^\$a\\$/d' "$TMPDIR/sed"
edited github/copy --owner other.app || { cat "$TMPDIR/out"; fail 'edit in an editor failed'; }
same edited "$(part Label github/carl)/$(part Tags github/carl)/$(part Comment github/carl)" 'by hand/one, two/Tags: a,b'
vauban show github/carl | grep -qx ' \{17\}the end' || fail 'the second line of the comment is not indented'
same secret "$(vauban get github/carl)" changed
# What was changed elsewhere while the editor was open is not overwritten. A change of anything else does not matter.
printf 's/^Label:.*/Label: of the editor/\n' >"$TMPDIR/sed"
cat >"$TMPDIR/slow-editor" <<EDITOR
#!/bin/sh
"$VAUBAN_BUILD/vauban" edit github/carl "\$2" elsewhere </dev/null && exec "\$1/editor" "\$1" "\$3"
EDITOR
chmod +x "$TMPDIR/slow-editor"
VISUAL="$TMPDIR/slow-editor $TMPDIR --label" edited github/carl; [ $? = 53 ] || { cat "$TMPDIR/out"; fail 'an outdated edit does not end with 53'; }
expect_text 'github/carl was changed elsewhere meanwhile; nothing was saved.' "$TMPDIR/out"
same Label "$(part Label github/carl)" elsewhere
VISUAL="$TMPDIR/slow-editor $TMPDIR --description" edited github/carl || { cat "$TMPDIR/out"; fail 'a change of another attribute ends an edit'; }
same Label "$(part Label github/carl)" 'of the editor'
same Description "$(part Description github/carl)" elsewhere
vauban edit github/carl --label 'by hand' --description '' || fail 'edit failed'
# An invalid line is reported, and the user can edit the text again or cancel.
printf 's/^Label:/Lable:/\n' >"$TMPDIR/sed"
play "$VAUBAN_BUILD/vauban" edit github/carl >"$TMPDIR/out" <<STEPS
expect has no Lable
expect to edit it again
key ctrl-c
STEPS
[ $? = 128 ] || { cat "$TMPDIR/out"; fail 'a cancelled edit does not end with 128'; }
[ ! -e "$(cat "$TMPDIR/folder")" ] || fail 'the file for the editor was not removed'
same Label "$(part Label github/carl)" 'by hand'
rm "$TMPDIR/sed"
VISUAL=false edited github/carl; [ $? = 128 ] || fail 'a failed editor does not cancel the edit'
unset VISUAL; export EDITOR=''
edited github/carl && fail 'edit succeeded without an editor'
expect_text 'EDITOR' "$TMPDIR/out"
expect_status 64 detached edit github/carl
expect_text '--label' "$TMPDIR/err"
echo 'items are edited, renamed, copied and moved without their secrets'
