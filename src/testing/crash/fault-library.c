// Makes system calls of a running program fail. A campaign loads it with LD_PRELOAD into the server that it disturbs.
// FAULT_CONTROL names a file of four int32: which calls fail (0 none, 1 writes with ENOSPC, 2 writes with EIO, 3 syncs with EIO,
// 4 opening with EMFILE), how many calls succeed before that, how many fail then, and the count of failed calls.
// Only calls for files below FAULT_FOLDER fail.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum { NOTHING, NO_SPACE, BAD_WRITE, BAD_SYNC, NO_DESCRIPTOR };
struct control { int what, spared, failing, failed; };

static struct control *control;
static const char *folder;
static size_t folder_length;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("FAULT_CONTROL");
  folder = getenv("FAULT_FOLDER");
  if (!path || !folder) return;
  folder_length = strlen(folder);
  int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  void *mapped = mmap(0, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped != MAP_FAILED) control = mapped;
  close(fd);
}

static int is_due(void) {
  if (__atomic_fetch_sub(&control->spared, 1, __ATOMIC_SEQ_CST) > 0) return 0;
  if (__atomic_fetch_sub(&control->failing, 1, __ATOMIC_SEQ_CST) <= 0) return 0;
  __atomic_fetch_add(&control->failed, 1, __ATOMIC_SEQ_CST);
  return 1;
}

static int is_below(const char *path) { return strncmp(path, folder, folder_length) == 0; }

static int is_file_below(int fd) {
  char link[32], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return is_below(path);
}

static int fails(int fd, int first, int second) {
  if (!control || (control->what != first && control->what != second) || !is_file_below(fd) || !is_due()) return 0;
  errno = control->what == NO_SPACE ? ENOSPC : EIO;
  return 1;
}

#define NEXT(name) static __typeof__(name) *next; if (!next) next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

ssize_t write(int fd, const void *bytes, size_t count) {
  NEXT(write);
  return fails(fd, NO_SPACE, BAD_WRITE) ? -1 : next(fd, bytes, count);
}
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) {
  NEXT(pwrite);
  return fails(fd, NO_SPACE, BAD_WRITE) ? -1 : next(fd, bytes, count, at);
}
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) {
  NEXT(pwrite64);
  return fails(fd, NO_SPACE, BAD_WRITE) ? -1 : next(fd, bytes, count, at);
}
int fsync(int fd) {
  NEXT(fsync);
  return fails(fd, BAD_SYNC, BAD_SYNC) ? -1 : next(fd);
}
int fdatasync(int fd) {
  NEXT(fdatasync);
  return fails(fd, BAD_SYNC, BAD_SYNC) ? -1 : next(fd);
}

static int lacks_descriptor(const char *path) {
  if (!control || control->what != NO_DESCRIPTOR || !is_below(path) || !is_due()) return 0;
  errno = EMFILE;
  return 1;
}
#define MODE(flags) \
  mode_t mode = 0; \
  if ((flags) & (O_CREAT | O_TMPFILE)) { va_list rest; va_start(rest, flags); mode = va_arg(rest, mode_t); va_end(rest); }

int open(const char *path, int flags, ...) {
  NEXT(open);
  MODE(flags)
  return lacks_descriptor(path) ? -1 : next(path, flags, mode);
}
int open64(const char *path, int flags, ...) {
  NEXT(open64);
  MODE(flags)
  return lacks_descriptor(path) ? -1 : next(path, flags, mode);
}
int openat(int at, const char *path, int flags, ...) {
  NEXT(openat);
  MODE(flags)
  return lacks_descriptor(path) ? -1 : next(at, path, flags, mode);
}
int openat64(int at, const char *path, int flags, ...) {
  NEXT(openat64);
  MODE(flags)
  return lacks_descriptor(path) ? -1 : next(at, path, flags, mode);
}
