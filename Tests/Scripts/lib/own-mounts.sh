# For tests that mount something in a namespace of their own. After this there is own_mounts: the words for unshare; empty if there is none to be had.
# In a root that is no mount point, as in a chroot, the propagation of mounts cannot be changed; whoever made it has seen to that.
own_mounts=
for words in '--mount' '--mount --propagation unchanged'; do
    # Words of one command, so unquoted on purpose.
    # shellcheck disable=SC2086
    if unshare $words true 2>/dev/null; then own_mounts=$words; break; fi
done
