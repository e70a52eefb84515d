/* A disk that fails when a test says so: loaded with LD_PRELOAD, it looks at every write, sync and change of name below the
 * folder TEST_DISK_FOLDER, and does what the file TEST_DISK_FAULT says:
 *
 *   (nothing)  all is well
 *   short      a write takes half of what it is given, which POSIX allows at any time
 *   eio        writes and syncs fail with EIO
 *   sync       only syncs fail with EIO
 *   lost       the disk is gone: everything fails with ENODEV, opening included
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum fault { WELL, SHORT, IO, SYNC, LOST };

static enum fault fault(void)
{
    const char *path = getenv("TEST_DISK_FAULT");
    char text[8] = {0};
    int file = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return WELL;
    syscall(SYS_read, file, text, sizeof text - 1);
    syscall(SYS_close, file);
    return !strncmp(text, "short", 5) ? SHORT
         : !strncmp(text, "eio", 3)   ? IO
         : !strncmp(text, "sync", 4)  ? SYNC
         : !strncmp(text, "lost", 4)  ? LOST
                                      : WELL;
}

static int below(const char *path)
{
    const char *folder = getenv("TEST_DISK_FOLDER");
    return folder && path && !strncmp(path, folder, strlen(folder));
}

/* Whether a file is below the folder. */
static int ours(int file)
{
    char link[32], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    long length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    return below(path);
}

/* What happens to a file now. */
static enum fault of(int file)
{
    enum fault now = fault();
    return now != WELL && ours(file) ? now : WELL;
}

static long refuse(enum fault now)
{
    errno = now == LOST ? ENODEV : EIO;
    return -1;
}

static size_t half(enum fault now, size_t size)
{
    return now == SHORT && size > 1 ? size / 2 : size;
}

ssize_t write(int file, const void *bytes, size_t size)
{
    enum fault now = of(file);
    return now == IO || now == LOST ? refuse(now) : syscall(SYS_write, file, bytes, half(now, size));
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t at)
{
    enum fault now = of(file);
    return now == IO || now == LOST ? refuse(now) : syscall(SYS_pwrite64, file, bytes, half(now, size), at);
}

ssize_t writev(int file, const struct iovec *parts, int count)
{
    enum fault now = of(file);
    if (now == SHORT && count > 0)
        return write(file, parts[0].iov_base, parts[0].iov_len);
    return now == IO || now == LOST ? refuse(now) : syscall(SYS_writev, file, parts, count);
}

int fsync(int file)
{
    enum fault now = of(file);
    return now == WELL || now == SHORT ? syscall(SYS_fsync, file) : refuse(now);
}

int fdatasync(int file)
{
    enum fault now = of(file);
    return now == WELL || now == SHORT ? syscall(SYS_fdatasync, file) : refuse(now);
}

int ftruncate64(int file, off64_t size)
{
    enum fault now = of(file);
    return now == IO || now == LOST ? refuse(now) : syscall(SYS_ftruncate, file, size);
}

int rename(const char *from, const char *to)
{
    enum fault now = below(to) ? fault() : WELL;
    return now == IO || now == LOST ? refuse(now) : syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int open64(const char *path, int flags, ...)
{
    mode_t mode = 0;
    if (flags & (O_CREAT | __O_TMPFILE)) {
        va_list rest;
        va_start(rest, flags);
        mode = va_arg(rest, mode_t);
        va_end(rest);
    }
    if (below(path) && fault() == LOST)
        return refuse(LOST);
    return syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
