# For tests that look at the rooms of user mode. To be sourced.
# room_name PID: the name of a room's process. The program for tests is several rooms, and its first word says which.
room_name() {
    local words
    mapfile -d '' -t words <"/proc/$1/cmdline"
    case "${words[0]##*/} ${words[1]:-}" in
        'rooms-testing --'*) echo rooms-testing ;;
        'rooms-testing '*) echo "${words[1]}" ;;
        *) echo "${words[0]##*/}" ;;
    esac
}
