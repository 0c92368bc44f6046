/* Stands between a program and its disk (LD_PRELOAD). Every call that opens, reads, writes, syncs, renames, links,
 * removes, cuts or changes rights below one folder is counted. Call number `at` fails or kills the process; or a
 * function is called before each one; or each one is written to a log, from which a power cut can be played.
 *
 *   shim_watch(root, log_fd, hook)        begin counting at 0 below root; "" ends it
 *   shim_break(at, fault, forever)        fault: an errno, or one of the three below
 *   shim_calls()                          how many there were
 *   shim_note(text)                       a remark in the log
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KILL_BEFORE = -1, KILL_AFTER = -2, KILL_HALF = -3 };
typedef void (*hook_t)(long call, const char *what, const char *path);

static char root[PATH_MAX];
static hook_t hook;
static long calls, break_at;
static int fault, forever, log_fd = -1, busy;

#define REAL(name) ((__typeof__(&name))real(#name))

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

void shim_watch(const char *folder, int log, hook_t call_back) {
    snprintf(root, sizeof root, "%s", folder);
    log_fd = log;
    hook = call_back;
    calls = break_at = 0;
}

void shim_break(long at, int how, int on) { break_at = at, fault = how, forever = on; }

long shim_calls(void) { return calls; }

static void note(const char *what, int fd, long offset, const char *one, const char *two, const void *data, size_t size) {
    char line[3 * PATH_MAX];
    if (log_fd < 0) return;
    int length = snprintf(line, sizeof line, "%s\t%d\t%ld\t%zu\t%s\t%s\n", what, fd, offset, size, one, two);
    REAL(write)(log_fd, line, length);
    if (size) REAL(write)(log_fd, data, size);
}

void shim_note(const char *text) { note("note", -1, 0, "", "", text, strlen(text)); }

static const char *of_fd(int fd, char *out) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, out, PATH_MAX - 1);
    out[length < 0 ? 0 : length] = 0;
    return out;
}

/* The absolute path; names below /proc/self/fd/N are looked up, links are not. */
static const char *whole(int at, const char *path, char *out) {
    char *rest;
    char folder[PATH_MAX];
    if (!strncmp(path, "/proc/self/fd/", 14)) {
        long fd = strtol(path + 14, &rest, 10);
        snprintf(out, PATH_MAX, "%s%s", of_fd(fd, folder), rest);
    } else if (path[0] == '/') {
        snprintf(out, PATH_MAX, "%s", path);
    } else if (at == AT_FDCWD) {
        snprintf(out, PATH_MAX, "%s/%s", getcwd(folder, sizeof folder) ? folder : "", path);
    } else {
        snprintf(out, PATH_MAX, "%s/%s", of_fd(at, folder), path);
    }
    return out;
}

static int below(const char *path) {
    size_t length = strlen(root);
    return length && !busy && !strncmp(path, root, length) && (path[length] == '/' || !path[length]);
}

/* 0 to go on, else the error to report. `needs` says what the call does: r(eads), w(rites), g(ives room back). */
static int gate(const char *what, char needs, const char *path) {
    calls++;
    if (hook) {
        busy = 1, hook(calls, what, path), busy = 0;
        return 0;
    }
    if (!break_at || calls < break_at || (calls > break_at && !forever)) return 0;
    if (fault == KILL_BEFORE) kill(getpid(), SIGKILL);
    if (fault < 0 || (needs == 'r' && fault != EIO && fault != EINTR) || (needs == 'g' && fault == ENOSPC)) return 0;
    return fault;
}

static void done(void) {
    if (calls == break_at && (fault == KILL_AFTER || fault == KILL_HALF)) kill(getpid(), SIGKILL);
}

#define REFUSED(what, needs, path)                                       \
    do {                                                                 \
        int refused = gate(what, needs, path);                           \
        if (refused) { errno = refused; return -1; }                     \
    } while (0)

static int opened(int at, const char *path, int flags, mode_t mode) {
    char full[PATH_MAX];
    struct stat there;
    int (*next)(int, const char *, int, ...) = REAL(openat);
    whole(at, path, full);
    if (!below(full)) return next(at, path, flags, mode);
    int missing = (flags & O_CREAT) && fstatat(at, path, &there, 0);
    REFUSED("open", (flags & O_ACCMODE) == O_RDONLY && !(flags & O_CREAT) ? 'r' : 'w', full);
    int fd = next(at, path, flags, mode);
    if (fd >= 0) note(missing ? "create" : flags & O_TRUNC ? "empty" : "open", fd, 0, full, "", "", 0);
    done();
    return fd;
}

#define MODE                                                             \
    mode_t mode = 0;                                                     \
    va_list rest;                                                        \
    va_start(rest, flags);                                               \
    if (flags & (O_CREAT | __O_TMPFILE)) mode = va_arg(rest, mode_t);    \
    va_end(rest)

int open(const char *path, int flags, ...) { MODE; return opened(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE; return opened(AT_FDCWD, path, flags, mode); }
int openat(int at, const char *path, int flags, ...) { MODE; return opened(at, path, flags, mode); }
int openat64(int at, const char *path, int flags, ...) { MODE; return opened(at, path, flags, mode); }

ssize_t read(int fd, void *data, size_t size) {
    char full[PATH_MAX];
    if (*root && below(of_fd(fd, full))) REFUSED("read", 'r', full);
    return REAL(read)(fd, data, size);
}

static ssize_t written(int fd, const void *data, size_t size, off64_t at) {
    char full[PATH_MAX];
    if (*root && below(of_fd(fd, full))) {
        int refused = gate("write", 'w', full);
        int half = calls == break_at && size > 1 && (fault == KILL_HALF || (refused == ENOSPC && forever));
        if (refused && !half) { errno = refused; return -1; }
        if (half) size /= 2;
        ssize_t count = at < 0 ? REAL(write)(fd, data, size) : REAL(pwrite64)(fd, data, size, at);
        if (count > 0) note("write", fd, at < 0 ? lseek(fd, 0, SEEK_CUR) - count : at, full, "", data, count);
        done();
        return count;
    }
    return at < 0 ? REAL(write)(fd, data, size) : REAL(pwrite64)(fd, data, size, at);
}

ssize_t write(int fd, const void *data, size_t size) { return written(fd, data, size, -1); }
ssize_t pwrite(int fd, const void *data, size_t size, off_t at) { return written(fd, data, size, at); }
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) { return written(fd, data, size, at); }

#define BY_FD(name, what, needs, declared, passed, size)                 \
    int name declared {                                                  \
        char full[PATH_MAX];                                             \
        if (!*root || !below(of_fd(fd, full))) return REAL(name) passed; \
        REFUSED(what, needs, full);                                      \
        int result = REAL(name) passed;                                  \
        if (!result) note(what, fd, size, full, "", "", 0);              \
        done();                                                          \
        return result;                                                   \
    }

BY_FD(fsync, "sync", 'w', (int fd), (fd), 0)
BY_FD(fdatasync, "sync", 'w', (int fd), (fd), 0)
BY_FD(ftruncate, "cut", 'g', (int fd, off_t size), (fd, size), size)
BY_FD(ftruncate64, "cut", 'g', (int fd, off64_t size), (fd, size), size)
BY_FD(fchmod, "rights", 'g', (int fd, mode_t mode), (fd, mode), 0)

#define BY_PATH(name, what, needs, at, declared, passed)                 \
    int name declared {                                                  \
        char full[PATH_MAX];                                             \
        if (!*root || !below(whole(at, path, full))) return REAL(name) passed; \
        REFUSED(what, needs, full);                                      \
        int result = REAL(name) passed;                                  \
        if (!result) note(what, -1, 0, full, "", "", 0);                 \
        done();                                                          \
        return result;                                                   \
    }

BY_PATH(unlink, "remove", 'g', AT_FDCWD, (const char *path), (path))
BY_PATH(unlinkat, "remove", 'g', folder, (int folder, const char *path, int flags), (folder, path, flags))
BY_PATH(mkdir, "folder", 'w', AT_FDCWD, (const char *path, mode_t mode), (path, mode))
BY_PATH(chmod, "rights", 'g', AT_FDCWD, (const char *path, mode_t mode), (path, mode))

#define BY_PATHS(name, what, at, to, declared, passed)                   \
    int name declared {                                                  \
        char full[PATH_MAX], other[PATH_MAX];                            \
        if (!*root || !below(whole(to, new, other))) return REAL(name) passed; \
        whole(at, old, full);                                            \
        REFUSED(what, 'w', other);                                       \
        int result = REAL(name) passed;                                  \
        if (!result) note(what, -1, 0, full, other, "", 0);              \
        done();                                                          \
        return result;                                                   \
    }

BY_PATHS(rename, "rename", AT_FDCWD, AT_FDCWD, (const char *old, const char *new), (old, new))
BY_PATHS(renameat, "rename", from, to, (int from, const char *old, int to, const char *new), (from, old, to, new))
BY_PATHS(renameat2, flags & 2 ? "exchange" : "rename", from, to,
         (int from, const char *old, int to, const char *new, unsigned flags), (from, old, to, new, flags))
BY_PATHS(link, "link", AT_FDCWD, AT_FDCWD, (const char *old, const char *new), (old, new))
BY_PATHS(linkat, "link", from, to, (int from, const char *old, int to, const char *new, int flags),
         (from, old, to, new, flags))
