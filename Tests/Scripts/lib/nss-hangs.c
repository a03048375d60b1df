/* A directory of users as the name service switch loads it. In a room it never answers while /etc/vauban/directory-hangs is there, and
   otherwise knows one user. In every other program it knows nobody, so that the test goes on beside it. */
#include <errno.h>
#include <limits.h>
#include <nss.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static enum nss_status answer(int is_asked_for, struct passwd *user, char *buffer, size_t length, int *fault) {
    static const char *rooms[] = {"keychaind", "authd", "enclaved", "rooms-testing", "vauban-witness", "hangs-for-me"};
    int is_room = 0;
    for (size_t index = 0; index < sizeof rooms / sizeof *rooms; index++)
        if (strcmp(program_invocation_short_name, rooms[index]) == 0) is_room = 1;
    if (!is_room) return NSS_STATUS_NOTFOUND;
    while (access("/etc/vauban/directory-hangs", F_OK) == 0) pause();
    if (!is_asked_for) return NSS_STATUS_NOTFOUND;
    if (length < 64) { *fault = ERANGE; return NSS_STATUS_TRYAGAIN; }
    strcpy(buffer, "dora");
    strcpy(buffer + 8, "/nonexistent");
    *user = (struct passwd){.pw_name = buffer, .pw_passwd = buffer + 4, .pw_uid = 54321, .pw_gid = 54321,
        .pw_gecos = buffer + 4, .pw_dir = buffer + 8, .pw_shell = buffer + 4};
    return NSS_STATUS_SUCCESS;
}

enum nss_status _nss_vaubantest_getpwuid_r(uid_t uid, struct passwd *user, char *buffer, size_t length, int *fault) {
    return answer(uid == 54321, user, buffer, length, fault);
}

enum nss_status _nss_vaubantest_getpwnam_r(const char *name, struct passwd *user, char *buffer, size_t length, int *fault) {
    return answer(strcmp(name, "dora") == 0, user, buffer, length, fault);
}
