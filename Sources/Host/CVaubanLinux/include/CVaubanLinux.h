/* The calls that Swift cannot make: macros for ancillary data, system calls without a glibc wrapper, fork. This module makes no decisions:
   each function is one kernel operation, and a negative result is -errno. */
#ifndef CVAUBAN_LINUX_H
#define CVAUBAN_LINUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define VAUBAN_DESCRIPTORS_MAX 4

/* What the kernel reported with the bytes of one receive. */
struct vauban_ancillary {
    bool has_credentials;
    bool truncated;
    int32_t pid;
    uint32_t uid;
    int32_t descriptor_count;
    int32_t descriptors[VAUBAN_DESCRIPTORS_MAX];
};

/* Sends two byte ranges as one message with descriptors; returns bytes sent or -errno. Never raises SIGPIPE. */
ssize_t vauban_send(int socket, const void *first, size_t first_count, const void *second, size_t second_count,
                    const int32_t *descriptors, int32_t descriptor_count);

/* Receives bytes with credentials and descriptors (close-on-exec); returns bytes, 0 at the end, or -errno. */
ssize_t vauban_receive(int socket, void *buffer, size_t count, struct vauban_ancillary *ancillary);

/* A hang-up of the peer's sending side, for poll. */
#define VAUBAN_POLLRDHUP 0x2000

/* Accepts a connection, close-on-exec: a descriptor or -errno. */
int vauban_accept(int socket);
/* SO_PEERCRED: 0 or -errno. */
int vauban_peer_credentials(int socket, int32_t *pid, uint32_t *uid);
/* SO_PEERPIDFD (Linux 6.5): a descriptor or -errno. */
int vauban_peer_pidfd(int socket);
/* pidfd_open (Linux 5.3): a descriptor or -errno. */
int vauban_pidfd_open(pid_t pid);
/* Enables SCM_CREDENTIALS for each message that is received: 0 or -errno. */
int vauban_pass_credentials(int socket);
/* Binds a Unix stream socket NAME in the open folder FOLDER, so that long paths work: fd or -errno. */
int vauban_bind_in(int folder, const char *name, mode_t mode);
/* Opens a file or folder as a location only (O_PATH), which requires no right on it: fd or -errno. */
int vauban_open_place(const char *path);
/* The kind of an open file's file system (statfs) and whether it is mounted nosuid: 0 or -errno. */
int vauban_file_system(int descriptor, uint32_t *kind, bool *is_nosuid);
/* The attribute flags of an open file or folder, such as immutable (FS_IOC_GETFLAGS), and setting them: 0 or -errno. */
int vauban_file_flags(int descriptor, uint32_t *flags);
int vauban_set_file_flags(int descriptor, uint32_t flags);
/* Connects to the Unix stream socket NAME inside FOLDER: fd or -errno. */
int vauban_connect_in(int folder, const char *name);

/* Creates a memory file that can no longer be changed. The kernel reports its creator: fd or -errno. */
int vauban_sealed_memory(const char *name, const void *bytes, size_t count);
/* Returns 1 if the descriptor is such a file and fully sealed, otherwise 0. */
int vauban_is_sealed_memory(int descriptor);

/* Returns whether this program runs with more rights than its parent (AT_SECURE), so that its environment cannot be trusted. */
bool vauban_is_privileged(void);
/* Disables core dumps, tracing by processes of the same user, and new privileges: 0 or -errno. */
int vauban_harden_process(void);
/* Disables only tracing by processes of the same user, and with it core dumps: 0 or -errno. */
int vauban_hide_process(void);
/* Hides this process as vauban_hide_process does and disables core dumps; on request also new privileges, and code that the process writes
   itself (PR_SET_MDWE, Linux 6.3): 0 or -errno. */
int vauban_restrict_process(bool forbids_new_privileges, bool forbids_new_code);
/* Makes orphaned descendants children of this process (PR_SET_CHILD_SUBREAPER): 0 or -errno. */
int vauban_adopt_orphans(void);

/* Maps pages that the kernel itself does not map, by memfd_secret (Linux 5.14, unless it is disabled). Returns NULL and sets errno on
   failure. The pages are locked, in no dump, and not inherited by a child. */
void *vauban_secret_file_pages(size_t count);
/* Maps pages that are in no dump and are empty in a child. Returns NULL and sets errno on failure. */
void *vauban_private_pages(size_t count);
/* Releases the read-only pages of the files of the program and its libraries. A page that is used later is mapped again from the same file.
   */
void vauban_give_back_read_pages(void);
/* Has the allocator map each block of this size and above by itself, and unmap it when it is freed. Otherwise glibc raises its own limit
   with the largest block so far, and keeps up to twice as much free memory. */
void vauban_map_large_blocks(size_t bytes);
/* Releases the free pages of the allocator, also between blocks in use. */
void vauban_give_back_free_pages(void);
/* Returns how many bytes this process may lock, according to its resource limit alone. */
uint64_t vauban_lock_limit(void);
/* Keeps pages out of swap, each from its first use: 0 or -errno. */
int vauban_lock_pages(void *pages, size_t count);

/* Fills the buffer by getrandom: 0 or -errno. */
int vauban_random(void *buffer, size_t count);

/* Blocks these signals for this thread and those that it starts later, and returns a non-blocking descriptor from which they are read
   (signalfd, close-on-exec): fd or -errno. */
int vauban_signal_descriptor(const int32_t *signals, int32_t count);
/* Returns the number of the next signal of such a descriptor, 0 if there is none now, or -errno. */
int vauban_next_signal(int descriptor);
/* Sends a signal to exactly the process of the descriptor (pidfd_send_signal, Linux 5.1): 0 or -errno. */
int vauban_signal_process(int process, int signal);

/* Starts a room: descriptors become 3, 4, …; the environment is LISTEN_FDS, LISTEN_PID and LISTEN_FDNAMES only;
   the child dies with its parent. Returns the pid or -errno. */
pid_t vauban_spawn_room(const char *path, char *const argv[], const int *descriptors, int count, const char *names);
/* Starts a program that must inherit nothing else of this process: its standard streams are /dev/null, and it is killed when its parent
   ends. */
pid_t vauban_spawn_helper(const char *path, char *const argv[], const int *descriptors, int count, const char *names);
/* Starts a command on the terminal SLAVE, as its session's leader, with this process's environment: pid or -errno. */
pid_t vauban_spawn_on_terminal(char *const argv[], int slave);
/* Starts a program in its own session and not as a child of this process. Its standard streams are /dev/null, and notify_fd becomes its
   descriptor 3 unless it is -1: 0 or -errno. */
int vauban_spawn_detached(const char *path, char *const argv[], char *const envp[], int notify_fd);

/* Makes a pipe that no program inherits, not even one that another thread starts at the same moment: 0 or -errno. */
int vauban_pipe(int ends[2]);

/* Returns 1 if an open file has capabilities (capabilities(7)), otherwise 0. */
int vauban_has_capabilities(int descriptor);

/* Gives an open file the owner, the group and the extended attributes of another, including access lists but not attributes that describe
   its content. Returns 0 or -errno. Without root's rights, an owner other than the caller stays unchanged. */
int vauban_copy_ownership(int from, int to);

/* Renames a file unless the new name is taken: 0 or -errno; -EEXIST if it is taken, -EINVAL if the file system cannot do this. */
int vauban_rename_new(const char *from, const char *to);

/* Overwrites the vector registers that a function may change. */
void vauban_clear_vectors(void);

/* Returns 1 if the system's clock is synchronized, and 0 if nothing has set it since the start or in the recent past (adjtimex(2)). */
int vauban_clock_is_synchronized(void);

/* Returns the terminal columns of a code point by the C library's table, independently of the process's locale; -1 if it has none. */
int vauban_columns(uint32_t scalar);

/* Creates a timer on the boot-time clock (timerfd): fd or -errno. The second function sets its time in nanoseconds, 0 for never. */
int vauban_boot_timer(void);
int vauban_set_boot_timer(int descriptor, uint64_t nanoseconds);
/* Creates a descriptor that becomes readable when the date is set or the machine wakes from sleep: fd or -errno. The second function arms
   it again. */
int vauban_clock_jump(void);
int vauban_rearm_clock_jump(int descriptor);

#endif
