# Desktops without a screen, for tests of clipboards. To be sourced after command-line.sh; none runs at first.
# Defines start_x11 (Xvfb), start_wayland (sway), stop_desktops.
unset DISPLAY WAYLAND_DISPLAY
start_x11() {
    exec {display_says}< <(exec Xvfb -displayfd 1 -screen 0 "${screen:-320x240x8}" -nolisten tcp 2>/dev/null)
    display_pid=$!
    read -r -t "$hang_seconds" number <&"$display_says" || fail 'Xvfb does not start'
    export DISPLAY=:$number
}
# sway refuses to start for a user who can become root.
start_wayland() {
    export XDG_RUNTIME_DIR=$TMPDIR/runtime
    mkdir -m 700 "$XDG_RUNTIME_DIR"
    mkfifo "$XDG_RUNTIME_DIR/started"
    printf 'xwayland disable\nexec echo "$WAYLAND_DISPLAY" >%s\n' "$XDG_RUNTIME_DIR/started" >"$XDG_RUNTIME_DIR/settings"
    as_nobody=()
    [ "$(id -u)" != 0 ] || { chown -R 65534:65534 "$XDG_RUNTIME_DIR"; as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups); }
    env -i PATH="$PATH" HOME="$XDG_RUNTIME_DIR" XDG_RUNTIME_DIR="$XDG_RUNTIME_DIR" WLR_BACKENDS=headless WLR_LIBINPUT_NO_DEVICES=1 WLR_RENDERER=pixman \
        "${as_nobody[@]}" sway --config "$XDG_RUNTIME_DIR/settings" >"$TMPDIR/sway.log" 2>&1 </dev/null & sway=$!
    exec 7<>"$XDG_RUNTIME_DIR/started"
    read -r -t "$hang_seconds" name <&7 || { cat "$TMPDIR/sway.log"; fail 'sway does not start'; }
    export WAYLAND_DISPLAY=$XDG_RUNTIME_DIR/$name
}
stop_desktops() {
    for process in "${display_pid:-}" "${sway:-}"; do [ -z "$process" ] || { kill "$process"; wait "$process"; } 2>/dev/null; done
    display_pid='' sway=''
}
