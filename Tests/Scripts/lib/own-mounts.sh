# For tests that mount something in a separate namespace. Defines own_mounts, the options for unshare, and has_own_mounts: whether unshare
# accepts them here. If not, unshare fails with these options, and nothing is mounted.
# In a root that is not a mount point, as in a chroot, the propagation of mounts cannot be changed; it is then left to the creator of that root.
has_own_mounts=false
for words in '--mount' '--mount --propagation unchanged'; do
    own_mounts=$words
    # Several options, so unquoted deliberately.
    # shellcheck disable=SC2086
    if unshare $words true 2>/dev/null; then has_own_mounts=true; break; fi
done
