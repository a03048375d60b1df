# Sourced first: starts the script again in a session of its own if the process that leads this one has ended, since no answer of the user
# holds in such a session.
read -r _ _ _ _ _ session _ <"/proc/$$/stat"
[ -d "/proc/$session" ] || exec setsid --wait "$0" "$@"
