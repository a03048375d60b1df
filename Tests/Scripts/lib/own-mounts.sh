# For tests that mount something in a namespace of their own. After this there are own_mounts, the words for unshare, and has_own_mounts: whether that
# can be had here. If not, unshare fails with these words, and nothing is mounted.
# In a root that is no mount point, as in a chroot, the propagation of mounts cannot be changed; whoever made it has seen to that.
has_own_mounts=false
for words in '--mount' '--mount --propagation unchanged'; do
    own_mounts=$words
    # Words of one command, so unquoted on purpose.
    # shellcheck disable=SC2086
    if unshare $words true 2>/dev/null; then has_own_mounts=true; break; fi
done
