/*
 * The carrier: the one program inside a container whose files are not mounted from the server. It says what is below one
 * folder, gives files, and takes them, all through its own standard input and output, which are the server's. It runs as the
 * agent's user and can do no more than the agent: what it says is as little trusted as what the agent writes.
 *
 * Runs in any Linux image: no C library, no allocation. Made by scripts/relay/build. Its argument is the folder.
 *
 * Requests, little-endian: operation (1 byte), 0, length of the path (2), mode (4), number (8), the path, and for PUT and LINK
 * as many bytes as the number says. Each is answered in turn by: status (4; 0 or the system's error), mode (4), inode (8), size (8),
 * seconds and nanoseconds of the last change (8, 4), two lengths (2, 2). GET: then the file, `size` bytes.
 * LIST is answered by many of these: an entry with its name and, of a link, its target; LEFT after the entries of a folder;
 * FAULT and the error in `size` in place of the entries of one that cannot be read; END with the time when it began.
 */
#include "../relay/system.h"

enum { LIST = 1, GET, PUT, FOLDER, LINK, REMOVE };
enum { LEFT = 1001, END, FAULT };
enum { REQUEST = 16, ANSWER = 40, PATH = 4096, DEPTH = 128, BUFFER = 65536, ENTRIES = 8192 };

/* Which sources this program was made of; the server's tests compare it. */
__attribute__((used)) static const char source[] = "skep-carrier-source:" SOURCE;

enum { RDONLY = 0, WRONLY = 1, CREAT = 0100, EXCL = 0200, NONBLOCK = 04000, CLOEXEC = 02000000 };
#if defined(__x86_64__)
enum { DIRECTORY = 0200000, NOFOLLOW = 0400000 };
#else
enum { DIRECTORY = 040000, NOFOLLOW = 0100000 };
#endif
enum { HERE = -100, NO_LINKS = 0x100, REMOVE_FOLDER = 0x200, EMPTY_PATH = 0x1000, BASIC = 0x7ff };
enum { EACCES = 13, EEXIST = 17, ENOTDIR = 20, EISDIR = 21, EINVAL = 22, EFBIG = 27, ENAMETOOLONG = 36 };
enum { KIND = 0170000, IS_FOLDER = 0040000, IS_FILE = 0100000, IS_LINK = 0120000 };

struct time { long seconds; u32 nanoseconds; u32 rest; };
struct stat {
  u32 mask, block;
  u64 attributes;
  u32 links, uid, gid;
  u16 mode, rest;
  u64 inode, size, blocks, known;
  struct time read, born, changed, modified;
  u8 more[128];
};
struct entry { u64 inode; long offset; u16 length; u8 kind; char name[]; };

static int root;
static u8 in[BUFFER], out[BUFFER], piece[BUFFER];
static u32 in_from, in_until, out_until;
static char path[PATH], target[PATH], draft[PATH];
static u8 listed[DEPTH][ENTRIES] __attribute__((aligned(8)));
/* Hang-up, interrupt, termination. */
static const u8 polite[] = {1, 2, 15};
/* A file that is being taken in, beside its place. Never listed. */
static const char DRAFT[] = ".skep-carried-in";

static void flush(void) {
  for (u32 at = 0; at < out_until;) {
    long wrote = call(WRITE, 1, (long)(out + at), out_until - at, 0, 0);
    if (wrote == EINTR) continue;
    if (wrote <= 0) leave(1);
    at += (u32)wrote;
  }
  out_until = 0;
}

static void put(const void *data, u64 size) {
  const u8 *from = data;
  while (size > 0) {
    if (out_until == BUFFER) flush();
    u64 part = size < BUFFER - out_until ? size : BUFFER - out_until;
    memcpy(out + out_until, from, part);
    out_until += (u32)part;
    from += part;
    size -= part;
  }
}

/* Some of the input, at most `max` bytes. */
static u32 some(u8 **at, u64 max) {
  if (in_from == in_until) {
    flush();
    long got;
    do got = call(READ, 0, (long)in, BUFFER, 0, 0);
    while (got == EINTR);
    if (got <= 0) leave(0);
    in_from = 0;
    in_until = (u32)got;
  }
  u32 size = in_until - in_from;
  if (size > max) size = (u32)max;
  *at = in + in_from;
  in_from += size;
  return size;
}

static void take(void *to, u64 size) {
  u8 *at;
  for (u8 *next = to; size > 0;) {
    u32 part = some(&at, size);
    memcpy(next, at, part);
    next += part;
    size -= part;
  }
}

static u32 length_of(const char *text) {
  u32 length = 0;
  while (text[length]) length++;
  return length;
}
static int same(const char *one, const char *other) {
  while (*one && *one == *other) one++, other++;
  return *one == *other;
}

static void put_number(u8 *at, u64 number, u32 bytes) {
  for (u32 i = 0; i < bytes; i++) at[i] = (u8)(number >> (8 * i));
}
static u64 number_at(const u8 *at, u32 bytes) {
  u64 number = 0;
  for (u32 i = 0; i < bytes; i++) number |= (u64)at[i] << (8 * i);
  return number;
}

static void answer(u32 status, const struct stat *of, u32 name, u32 link) {
  u8 record[ANSWER];
  put_number(record, status, 4);
  put_number(record + 4, of ? of->mode : 0, 4);
  put_number(record + 8, of ? of->inode : 0, 8);
  put_number(record + 16, of ? of->size : 0, 8);
  put_number(record + 24, of ? (u64)of->changed.seconds : 0, 8);
  put_number(record + 32, of ? of->changed.nanoseconds : 0, 4);
  put_number(record + 36, name, 2);
  put_number(record + 38, link, 2);
  put(record, ANSWER);
}

static long stat_at(int folder, const char *name, struct stat *of) {
  return call(STATX, folder, (long)name, NO_LINKS, BASIC, (long)of);
}
static long stat_open(int file, struct stat *of) { return call(STATX, file, (long)"", EMPTY_PATH, BASIC, (long)of); }
static long open_folder(int folder, const char *name) {
  return call(OPENAT, folder, (long)name, RDONLY | DIRECTORY | NOFOLLOW | NONBLOCK | CLOEXEC, 0, 0);
}
static void close_file(long file) { call(CLOSE, file, 0, 0, 0, 0); }

static int is_dots(const char *name) { return same(name, ".") || same(name, ".."); }

static void fault(long error) {
  struct stat of = {0};
  of.size = (u64)-error;
  answer(FAULT, &of, 0, 0);
}

static void list(int folder, u32 depth) {
  if (depth == DEPTH) return fault(-ENAMETOOLONG);
  u8 *entries = listed[depth];
  for (;;) {
    long got = call(GETDENTS64, folder, (long)entries, ENTRIES, 0, 0);
    if (got < 0) return fault(got);
    if (got == 0) return;
    for (long at = 0; at < got;) {
      const struct entry *entry = (const struct entry *)(entries + at);
      at += entry->length;
      const char *name = entry->name;
      struct stat of;
      if (is_dots(name) || same(name, DRAFT) || stat_at(folder, name, &of) < 0) continue;
      u32 kind = of.mode & KIND;
      long link = kind == IS_LINK ? call(READLINKAT, folder, (long)name, (long)target, PATH, 0) : 0;
      if (link < 0 || link >= PATH) continue;
      answer(0, &of, length_of(name), (u32)link);
      put(name, length_of(name));
      put(target, (u64)link);
      if (kind != IS_FOLDER) continue;
      long below = open_folder(folder, name);
      if (below < 0) {
        fault(below);
      } else {
        list((int)below, depth + 1);
        close_file(below);
      }
      answer(LEFT, 0, 0, 0);
    }
  }
}

static void give(u64 most) {
  struct stat of;
  long file = call(OPENAT, root, (long)path, RDONLY | NOFOLLOW | NONBLOCK | CLOEXEC, 0, 0);
  if (file < 0) return answer((u32)-file, 0, 0, 0);
  long failed = stat_open((int)file, &of);
  if (failed < 0 || (of.mode & KIND) != IS_FILE || of.size > most) {
    answer(failed < 0 ? (u32)-failed : of.size > most ? EFBIG : EINVAL, 0, 0, 0);
    return close_file(file);
  }
  answer(0, &of, 0, 0);
  /* One that shrinks meanwhile is filled up with zeros; its last change says so at the next look. */
  for (u64 left = of.size; left > 0;) {
    long got = call(READ, file, (long)piece, left < BUFFER ? (long)left : BUFFER, 0, 0);
    if (got == EINTR) continue;
    if (got <= 0) {
      memset(piece, 0, BUFFER);
      got = left < BUFFER ? (long)left : BUFFER;
    }
    put(piece, (u64)got);
    left -= (u64)got;
  }
  close_file(file);
}

static void answer_with_stat(long failed) {
  struct stat of;
  if (failed >= 0) failed = stat_at(root, path, &of);
  answer(failed < 0 ? (u32)-failed : 0, failed < 0 ? 0 : &of, 0, 0);
}

/* The draft beside `path`. */
static void name_draft(void) {
  u32 end = length_of(path);
  while (end > 0 && path[end - 1] != '/') end--;
  if (end + sizeof DRAFT > PATH) end = 0;
  memcpy(draft, path, end);
  memcpy(draft + end, DRAFT, sizeof DRAFT);
}

static void accept(u32 mode, u64 size) {
  name_draft();
  call(UNLINKAT, root, (long)draft, 0, 0, 0);
  long file = call(OPENAT, root, (long)draft, WRONLY | CREAT | EXCL | NOFOLLOW | CLOEXEC, 0600, 0);
  long failed = file < 0 ? file : 0;
  while (size > 0) {
    u8 *at;
    u32 part = some(&at, size);
    size -= part;
    for (u32 done = 0; !failed && done < part;) {
      long wrote = call(WRITE, file, (long)(at + done), part - done, 0, 0);
      if (wrote == EINTR) continue;
      if (wrote <= 0) failed = wrote < 0 ? wrote : -EINVAL;
      else done += (u32)wrote;
    }
  }
  if (!failed) failed = call(FCHMOD, file, mode, 0, 0, 0);
  if (file >= 0) close_file(file);
  if (!failed) failed = call(RENAMEAT, root, (long)draft, root, (long)path, 0);
  if (failed) call(UNLINKAT, root, (long)draft, 0, 0, 0);
  answer_with_stat(failed);
}

static long remove_all(int folder, const char *name, u32 depth);

static long empty(int folder, u32 depth) {
  if (depth == DEPTH) return -ENAMETOOLONG;
  u8 *entries = listed[depth];
  for (;;) {
    long here = open_folder(folder, ".");
    if (here < 0) return here;
    long got = call(GETDENTS64, here, (long)entries, ENTRIES, 0, 0);
    close_file(here);
    if (got < 0) return got;
    u32 removed = 0;
    for (long at = 0; at < got;) {
      const struct entry *entry = (const struct entry *)(entries + at);
      at += entry->length;
      if (is_dots(entry->name)) continue;
      long failed = remove_all(folder, entry->name, depth + 1);
      if (failed < 0) return failed;
      removed++;
    }
    if (removed == 0) return 0;
  }
}

static long remove_all(int folder, const char *name, u32 depth) {
  long failed = call(UNLINKAT, folder, (long)name, 0, 0, 0);
  if (failed != -EISDIR) return failed;
  call(FCHMODAT, folder, (long)name, 0700, 0, 0);
  long below = open_folder(folder, name);
  if (below < 0) return below;
  failed = empty((int)below, depth);
  close_file(below);
  return failed < 0 ? failed : call(UNLINKAT, folder, (long)name, REMOVE_FOLDER, 0, 0);
}

__attribute__((used, noreturn)) void run(const long *start) {
  /* It may be the container's own process, which an agent's `pkill` ends no more than it must. */
  static const u64 ignored[4] = {1, 0, 0, 0};
  for (u32 i = 0; i < sizeof polite / sizeof *polite; i++) call(SIGACTION, polite[i], (long)ignored, 0, 8, 0);
  call(UMASK, 0, 0, 0, 0, 0);
  if (start[0] > 1) call(FCHMODAT, HERE, start[2], 0755, 0, 0);
  root = (int)call(OPENAT, HERE, start[0] > 1 ? start[2] : (long)".", RDONLY | DIRECTORY | CLOEXEC, 0, 0);
  if (root < 0) leave(3);
  for (;;) {
    u8 request[REQUEST];
    take(request, REQUEST);
    u32 length = (u32)number_at(request + 2, 2);
    u32 mode = (u32)number_at(request + 4, 4) & 0777;
    u64 number = number_at(request + 8, 8);
    if (length >= PATH) leave(2);
    take(path, length);
    path[length] = 0;
    if (request[0] == LIST) {
      struct stat of = {0};
      struct { long seconds, nanoseconds; } now = {0, 0};
      call(CLOCK_GETTIME, 0, (long)&now, 0, 0, 0);
      call(FCHMODAT, root, (long)".", 0755, 0, 0);
      long below = open_folder(root, ".");
      if (below < 0) leave(3);
      list((int)below, 0);
      close_file(below);
      of.changed.seconds = now.seconds;
      of.changed.nanoseconds = (u32)now.nanoseconds;
      answer(END, &of, 0, 0);
    } else if (request[0] == GET) {
      give(number);
    } else if (request[0] == PUT) {
      accept(mode, number);
    } else if (request[0] == FOLDER) {
      long failed = call(MKDIRAT, root, (long)path, mode, 0, 0);
      answer_with_stat(failed == -EEXIST ? call(FCHMODAT, root, (long)path, mode, 0, 0) : failed);
    } else if (request[0] == LINK) {
      if (number >= PATH) leave(2);
      take(target, number);
      target[number] = 0;
      call(UNLINKAT, root, (long)path, 0, 0, 0);
      answer_with_stat(call(SYMLINKAT, (long)target, root, (long)path, 0, 0));
    } else if (request[0] == REMOVE) {
      long failed = remove_all(root, path, 0);
      answer(failed < 0 ? (u32)-failed : 0, 0, 0, 0);
    } else {
      leave(2);
    }
  }
}
