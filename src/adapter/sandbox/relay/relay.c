/*
 * The relay: the one thing inside a container without a network that lets its programs reach what the server offers. It
 * listens on the container's loopback and carries every connection through its own standard input and output, which are
 * the server's: there is no other way out, and nothing of the host that could be reached by mistake. For previews the server
 * also has it connect to a port of that loopback.
 *
 * Runs in any Linux image: no C library, no allocation, no file is opened. Made by scripts/relay/build.
 *
 * Frames in both directions, little-endian: type (1 byte), 0, connection (2 bytes), number (4 bytes), and for DATA that
 * many bytes. Either side sends at most WINDOW bytes of a connection that the other has not confirmed, so one slow
 * connection holds up no other and the buffers here never overflow. The server's last word about each connection is
 * RESET; only then is its number given to another, so no late frame reaches the wrong one.
 */
#include "system.h"

/*
 * To the server: LISTEN answers with the port (0: refused), OPEN names the listener, CONNECT answers with 1 and the
 * connection, or 0. From the server: LISTEN and CONNECT with a port, never OPEN. Answers come in the order of the questions.
 */
enum { LISTEN = 1, OPEN, DATA, END, RESET, CREDIT, CONNECT };
enum { CONNECTIONS = 64, LISTENERS = 8, WINDOW = 131072, HEADER = 8, PIECE = 32768 };

/* Which sources this program was made of; the server's tests compare it. */
__attribute__((used)) static const char source[] = "skep-relay-source:" SOURCE;

enum { POLLIN = 1, POLLOUT = 4, POLLERR = 8, POLLHUP = 16, POLLNVAL = 32 };
enum { NONBLOCK = 04000, CLOEXEC = 02000000 };

struct watched { int fd; short wanted, found; };
struct address { u16 family, port; u32 host; u64 zero; };
struct address6 { u16 family, port; u32 flow; u8 host[16]; u32 scope; };
struct moment { long seconds, nanoseconds; };

struct connection {
  int fd;
  u32 credit;      /* bytes that may still be sent to the server */
  u32 from, until; /* what of `held` is still to be written to the program */
  u8 taken, open, read_ended, write_ended, no_more;
  u8 held[WINDOW];
};

static struct connection connections[CONNECTIONS];
static int listeners[LISTENERS];
static u32 listening;
static struct watched watched[1 + LISTENERS + CONNECTIONS];
static u8 piece[HEADER + PIECE];

/* The server always reads: a write waits a moment at most. */
static void write_all(const u8 *data, u64 size) {
  while (size > 0) {
    long wrote = call(WRITE, 1, (long)data, (long)size, 0, 0);
    if (wrote == EINTR) continue;
    if (wrote <= 0) leave(1);
    data += wrote;
    size -= (u64)wrote;
  }
}

static void put_header(u8 *at, u8 type, u32 id, u32 number) {
  at[0] = type;
  at[1] = 0;
  at[2] = (u8)id;
  at[3] = (u8)(id >> 8);
  for (int i = 0; i < 4; i++) at[4 + i] = (u8)(number >> (8 * i));
}

static void tell(u8 type, u32 id, u32 number) {
  u8 header[HEADER];
  put_header(header, type, id, number);
  write_all(header, HEADER);
}

static void forget(struct connection *c) {
  call(CLOSE, c->fd, 0, 0, 0, 0);
  c->open = 0;
}

static u32 id_of(const struct connection *c) { return (u32)(c - connections); }

static void break_off(struct connection *c) {
  tell(RESET, id_of(c), 0);
  forget(c);
}

static void forget_when_over(struct connection *c) {
  if (c->read_ended && c->write_ended) forget(c);
}

static void start_listener(u32 id, u32 port) {
  struct address at = {2, (u16)((port >> 8) | (port << 8)), 0x0100007f, 0};
  u32 size = sizeof at;
  int one = 1;
  if (listening == LISTENERS) return tell(LISTEN, id, 0);
  long fd = call(SOCKET, 2, 1 | NONBLOCK | CLOEXEC, 0, 0, 0);
  if (fd < 0) return tell(LISTEN, id, 0);
  call(SETSOCKOPT, fd, 1, 2, (long)&one, sizeof one);
  if (call(BIND, fd, (long)&at, size, 0, 0) < 0 || call(LISTEN_ON, fd, 64, 0, 0, 0) < 0 ||
      call(GETSOCKNAME, fd, (long)&at, (long)&size, 0, 0) < 0) {
    call(CLOSE, fd, 0, 0, 0, 0);
    return tell(LISTEN, id, 0);
  }
  listeners[listening++] = (int)fd;
  tell(LISTEN, id, (u32)((u16)((at.port >> 8) | (at.port << 8))));
}

/* A connection too many waits in the system's queue until another is over. */
static struct connection *free_connection(void) {
  for (int i = 0; i < CONNECTIONS; i++)
    if (!connections[i].taken) return &connections[i];
  return 0;
}

static void begin(struct connection *c, long fd) {
  c->fd = (int)fd;
  c->credit = WINDOW;
  c->from = c->until = 0;
  c->read_ended = c->write_ended = c->no_more = 0;
  c->taken = c->open = 1;
}

static void accept_one(u32 listener) {
  struct connection *c = free_connection();
  if (!c) return;
  long fd = call(ACCEPT4, listeners[listener], 0, 0, NONBLOCK | CLOEXEC, 0);
  if (fd < 0) return;
  begin(c, fd);
  tell(OPEN, id_of(c), listener);
}

/* A program that listens takes a connection of its own loopback at once; one whose queue is full is waited for this long. */
static const struct moment patience = {0, 250000000};

/* A connected socket, or a negative number. */
static long reach(u16 family, const void *at, u64 size) {
  long fd = call(SOCKET, family, 1 | NONBLOCK | CLOEXEC, 0, 0, 0);
  if (fd < 0) return fd;
  long answer = call(CONNECT_TO, fd, (long)at, (long)size, 0, 0);
  if (answer == EINPROGRESS) {
    struct watched one = {(int)fd, POLLOUT, 0};
    long ready = call(PPOLL, (long)&one, 1, (long)&patience, 0, 0);
    answer = ready == 1 && !(one.found & (POLLERR | POLLHUP)) ? 0 : -1;
  }
  if (answer == 0) return fd;
  call(CLOSE, fd, 0, 0, 0, 0);
  return -1;
}

/* Programs told to listen on `localhost` often take its IPv6 address alone. */
static void connect_to(u32 port) {
  u16 turned = (u16)((port >> 8) | (port << 8));
  struct address at = {2, turned, 0x0100007f, 0};
  struct address6 at6 = {10, turned, 0, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 0};
  struct connection *c = free_connection();
  long fd = c ? reach(2, &at, sizeof at) : -1;
  if (c && fd < 0) fd = reach(10, &at6, sizeof at6);
  if (fd < 0) return tell(CONNECT, 0, 0);
  begin(c, fd);
  tell(CONNECT, id_of(c), 1);
}

/* From the program to the server. */
static void read_some(struct connection *c) {
  u32 most = c->credit < PIECE ? c->credit : PIECE;
  long got = call(READ, c->fd, (long)(piece + HEADER), most, 0, 0);
  if (got == EAGAIN || got == EINTR) return;
  if (got < 0) return break_off(c);
  if (got == 0) {
    c->read_ended = 1;
    tell(END, id_of(c), 0);
    return forget_when_over(c);
  }
  c->credit -= (u32)got;
  put_header(piece, DATA, id_of(c), (u32)got);
  write_all(piece, HEADER + (u64)got);
}

/* From the server to the program. */
static void write_some(struct connection *c) {
  if (c->from < c->until) {
    long wrote = call(WRITE, c->fd, (long)(c->held + c->from), c->until - c->from, 0, 0);
    if (wrote == EAGAIN || wrote == EINTR) return;
    if (wrote <= 0) return break_off(c);
    c->from += (u32)wrote;
    tell(CREDIT, id_of(c), (u32)wrote);
    if (c->from == c->until) c->from = c->until = 0;
  }
  if (c->no_more && c->from == c->until && !c->write_ended) {
    c->write_ended = 1;
    call(SHUTDOWN, c->fd, 1, 0, 0, 0);
    forget_when_over(c);
  }
}

/* What is read of a frame whose rest has not come yet. */
static u8 header[HEADER];
static u32 header_size, data_left, data_id;

static void take_data(const u8 *data, u32 size) {
  struct connection *c = &connections[data_id];
  if (!c->open || c->no_more) return;
  if (c->until + size > WINDOW) {
    for (u32 i = 0; i < c->until - c->from; i++) c->held[i] = c->held[c->from + i];
    c->until -= c->from;
    c->from = 0;
  }
  if (c->until + size > WINDOW) leave(2);
  memcpy(c->held + c->until, data, size);
  c->until += size;
  write_some(c);
}

static void take_header(void) {
  u32 id = header[2] | (u32)header[3] << 8;
  u32 number = header[4] | (u32)header[5] << 8 | (u32)header[6] << 16 | (u32)header[7] << 24;
  if (header[0] == LISTEN) return start_listener(id, number);
  if (header[0] == CONNECT) return connect_to(number);
  if (id >= CONNECTIONS) leave(2);
  struct connection *c = &connections[id];
  if (header[0] == DATA) {
    data_id = id;
    data_left = number;
    return;
  }
  if (header[0] == RESET) {
    if (c->open) forget(c);
    c->taken = 0;
  }
  if (!c->open) return;
  if (header[0] == END) {
    c->no_more = 1;
    write_some(c);
  } else if (header[0] == CREDIT) {
    c->credit += number;
  }
}

static void read_server(void) {
  long got = call(READ, 0, (long)piece, sizeof piece, 0, 0);
  if (got == EINTR || got == EAGAIN) return;
  if (got <= 0) leave(0);
  for (u32 at = 0; at < (u32)got;) {
    if (data_left > 0) {
      u32 size = (u32)got - at < data_left ? (u32)got - at : data_left;
      /* `piece` is overwritten by nothing before it is read to its end: frames are written from `header`. */
      take_data(piece + at, size);
      data_left -= size;
      at += size;
      continue;
    }
    header[header_size++] = piece[at++];
    if (header_size < HEADER) continue;
    header_size = 0;
    take_header();
  }
}

__attribute__((used, noreturn)) void run(const long *start) {
  (void)start;
  for (;;) {
    u32 count = 0;
    watched[count++] = (struct watched){0, POLLIN, 0};
    int room = free_connection() != 0;
    for (u32 i = 0; i < listening; i++) watched[count++] = (struct watched){listeners[i], room ? POLLIN : 0, 0};
    for (int i = 0; i < CONNECTIONS; i++) {
      struct connection *c = &connections[i];
      short wanted = 0;
      if (c->open && !c->read_ended && c->credit > 0) wanted |= POLLIN;
      if (c->open && (c->from < c->until || (c->no_more && !c->write_ended))) wanted |= POLLOUT;
      watched[count++] = (struct watched){wanted ? c->fd : -1, wanted, 0};
    }
    if (call(PPOLL, (long)watched, count, 0, 0, 0) < 0) continue;
    u32 before = listening;
    for (int i = 0; i < CONNECTIONS; i++) {
      struct connection *c = &connections[i];
      short found = watched[1 + before + i].found;
      if (c->open && (watched[1 + before + i].wanted & POLLOUT) && found) write_some(c);
      if (c->open && (found & (POLLIN | POLLHUP | POLLERR)) && !c->read_ended && c->credit > 0) read_some(c);
    }
    for (u32 i = 0; i < before; i++)
      if (watched[1 + i].found & POLLIN) accept_one(i);
    if (watched[0].found) read_server();
  }
}
