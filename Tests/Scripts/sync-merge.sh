#!/usr/bin/env bash
# Devices that change different parts of one item, without having received each other's change, keep all changes, in whatever order they
# synchronize; of a part that two of them changed, the later change counts, and an earlier password is in the history of its device.
# proves: C-215 C-217
# limit: 600
set -u
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/circle.sh
trap 'for home in "$TMPDIR"/keychain "$TMPDIR"/laptop "$TMPDIR"/phone; do VAUBAN_HOME=$home vauban stop; done >/dev/null 2>&1' EXIT
set_item() { device "$1"; printf '%s' "$3" | vauban set "$2" --replace 2>/dev/null || fail "$2 cannot be set on $1"; }
edit() { device "$1"; own 0 edit "$2" "${@:3}"; }
# shows DEVICE ITEM LINE: the item's attributes have this line.
shows() { device "$1"; vauban show "$2" 2>/dev/null | grep -qxE "$3" || fail "$1 does not show \"$3\" of $2: $(vauban show "$2" 2>&1)"; }
quiet() { local name; for name in "$@"; do sync "$name"; text '0 changes received, 0 sent.'; done; }
told() { grep -q 'changed on two devices' "$TMPDIR/err"; }

set_passcode
own 0 sync new "$folder" --name desk
new_device laptop
join laptop keychain
device keychain
for name in first second order sent both remark rest back gone; do item s "$name" base; done
sync keychain; sync laptop

# The device whose change is earlier is first; it has sent its change when the other one reads it.
set_item keychain s/first 'new password'; edit laptop s/first --comment 'new comment'
sync keychain; told && fail 'there is no conflict yet'
sync laptop; text 's/first was changed on two devices; both changes are kept.'; text '1 change received, 1 sent.'
sync keychain; text '1 change received, 0 sent.'; told && fail 'a conflict is reported twice'
for name in keychain laptop; do has $name s/first 'new password'; shows $name s/first 'Comment: *new comment'; done
quiet laptop keychain
# The device whose change is later is first; the other one has not sent its change when it reads that.
set_item keychain s/second 'new password'; edit laptop s/second --comment 'new comment'
sync laptop; sync keychain; text 's/second was changed on two devices; both changes are kept.'
sync laptop; told && fail 'a conflict is reported twice'
for name in keychain laptop; do has $name s/second 'new password'; shows $name s/second 'Comment: *new comment'; done
# The other way round, and a label besides; the password that was there before is in both histories.
edit keychain s/order --comment 'of the desk' --label 'A label'; set_item laptop s/order 'of the laptop'
sync keychain; sync laptop; sync keychain
for name in keychain laptop; do
    has $name s/order 'of the laptop'; shows $name s/order 'Comment: *of the desk'; shows $name s/order 'Label: *A label'
    equals "$(vauban history s/order --show 1)" base
done
# Several changes in several files, of which the other device has received the first.
set_item keychain s/sent one; sync keychain; sync laptop
set_item keychain s/sent two; sync keychain; set_item keychain s/sent three
edit laptop s/sent --comment 'knows one'
sync laptop; sync keychain; sync laptop
for name in keychain laptop; do has $name s/sent three; shows $name s/sent 'Comment: *knows one'; done
# A password that is taken back to the one before, while the other device changes something else.
set_item keychain s/back wrong; sync keychain; sync laptop
edit keychain s/back --comment 'at the desk'; set_item laptop s/back base
sync keychain; sync laptop; sync keychain
for name in keychain laptop; do has $name s/back base; shows $name s/back 'Comment: *at the desk'; done
quiet keychain laptop

# Both change the password: the later one counts, and the other one is in the history of its maker.
set_item keychain s/both 'of the desk'; set_item laptop s/both 'of the laptop'
sync keychain; sync laptop; text 's/both was changed on two devices; the later change, of this device, is kept.'
text "The other device's secret is kept on that device: vauban history s/both"
sync keychain
for name in keychain laptop; do has $name s/both 'of the laptop'; done
device keychain; equals "$(vauban history s/both --show 1)" 'of the desk'
# Both change the comment.
edit keychain s/remark --comment 'of the desk'; edit laptop s/remark --comment 'of the laptop'
sync laptop; sync keychain; text 's/remark was changed on two devices; the later change, of the other device, is kept for the comment.'
text "This device's comment: vauban history s/remark"
device keychain; vauban history s/remark | grep -qx $'\tcomment: of the desk' || fail "the comment that lost is not in the history: $(vauban history s/remark)"
# The device whose change is earlier has sent it, and the other one keeps its own, which it had not sent yet.
sync laptop; edit keychain s/remark --comment 'at the desk'; sync keychain; edit laptop s/remark --comment 'on the road'
sync laptop; text 's/remark was changed on two devices; the later change, of this device, is kept for the comment.'
grep -q 'vauban history' "$TMPDIR/err" && fail 'the history of the other device may have no comments'
sync keychain
for name in keychain laptop; do shows $name s/remark 'Comment: *on the road'; done
# Both change the password, and one of them the comment too.
edit keychain s/rest --comment 'of the desk'; set_item keychain s/rest 'of the desk'; set_item laptop s/rest 'of the laptop'
sync laptop; sync keychain
text 's/rest was changed on two devices; the later change, of the other device, is kept for the secret, and both for the rest.'
text "This device's secret: vauban history s/rest"
sync laptop
for name in keychain laptop; do has $name s/rest 'of the laptop'; shows $name s/rest 'Comment: *of the desk'; done
device keychain; equals "$(vauban history s/rest --show 1)" 'of the desk'
# An item that is deleted and added again is another item: its parts are not those of the earlier one.
device keychain; own 0 delete s/gone; item s gone 'another item'; edit laptop s/gone --comment 'of the earlier one'
sync keychain; sync laptop; sync keychain; sync laptop
device keychain; comment=$(vauban show s/gone | grep Comment:); device laptop; equals "$(vauban show s/gone | grep Comment:)" "$comment"
equals "$(vauban get s/gone)" "$(device keychain; vauban get s/gone)"
quiet keychain laptop

# Three devices change one part each.
new_device phone
join phone laptop
for order in 'keychain laptop phone' 'phone laptop keychain' 'laptop phone keychain'; do
    device keychain; item three "${order%% *}" base; for name in keychain laptop phone; do sync $name; done
    set_item keychain "three/${order%% *}" 'by the desk'; edit laptop "three/${order%% *}" --comment 'by the laptop'
    edit phone "three/${order%% *}" --label 'by the phone'
    for turn in 1 2; do for name in $order; do sync $name; done; done
    for name in keychain laptop phone; do
        has $name "three/${order%% *}" 'by the desk'; shows $name "three/${order%% *}" 'Comment: *by the laptop'
        shows $name "three/${order%% *}" 'Label: *by the phone'
    done
    quiet keychain laptop phone
done
echo 'changes of different parts of an item are all kept, and of a part that two devices changed the later one counts'
