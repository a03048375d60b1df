# To be sourced first: starts the script again in a new session if the leader of this one has ended, since no answer of the user holds in such a
# session.
read -r _ _ _ _ _ session _ <"/proc/$$/stat"
[ -d "/proc/$session" ] || exec setsid --wait "$0" "$@"
