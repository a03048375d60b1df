# For tests that look at the rooms of user mode. To be sourced.
# room_name PID: prints the name of a room's process. The program for tests contains several rooms, and its first argument names one.
room_name() {
    local words
    mapfile -d '' -t words <"/proc/$1/cmdline"
    case "${words[0]##*/} ${words[1]:-}" in
        'rooms-testing --'*) echo rooms-testing ;;
        'rooms-testing '*) echo "${words[1]}" ;;
        *) echo "${words[0]##*/}" ;;
    esac
}
