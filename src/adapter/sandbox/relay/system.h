/*
 * What our programs inside containers are built on: system calls and nothing else, so that they run in any Linux image.
 * No C library, no allocation. `run` gets the stack as the kernel laid it: argument count, arguments.
 */
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long u64;

#if defined(__x86_64__)
enum { READ = 0, WRITE = 1, CLOSE = 3, PPOLL = 271, SOCKET = 41, BIND = 49, LISTEN_ON = 50, GETSOCKNAME = 51,
       ACCEPT4 = 288, SHUTDOWN = 48, EXIT = 231, SETSOCKOPT = 54, OPENAT = 257, STATX = 332, GETDENTS64 = 217,
       READLINKAT = 267, UNLINKAT = 263, MKDIRAT = 258, SYMLINKAT = 266, RENAMEAT = 264, FCHMOD = 91, FCHMODAT = 268,
       UMASK = 95, CLOCK_GETTIME = 228, SIGACTION = 13, CONNECT_TO = 42 };
static long call(long n, long a, long b, long c, long d, long e) {
  long answer;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  __asm__ volatile("syscall" : "=a"(answer) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8) : "rcx", "r11", "memory");
  return answer;
}
__asm__(".globl _start\n_start:\n  mov %rsp,%rdi\n  xor %ebp,%ebp\n  and $-16,%rsp\n  call run\n");
#elif defined(__aarch64__)
enum { READ = 63, WRITE = 64, CLOSE = 57, PPOLL = 73, SOCKET = 198, BIND = 200, LISTEN_ON = 201, GETSOCKNAME = 204,
       ACCEPT4 = 242, SHUTDOWN = 210, EXIT = 94, SETSOCKOPT = 208, OPENAT = 56, STATX = 291, GETDENTS64 = 61,
       READLINKAT = 78, UNLINKAT = 35, MKDIRAT = 34, SYMLINKAT = 36, RENAMEAT = 38, FCHMOD = 52, FCHMODAT = 53,
       UMASK = 166, CLOCK_GETTIME = 113, SIGACTION = 134, CONNECT_TO = 203 };
static long call(long n, long a, long b, long c, long d, long e) {
  register long x8 __asm__("x8") = n;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
  return x0;
}
__asm__(".globl _start\n_start:\n  mov x0, sp\n  mov x29, xzr\n  bl run\n");
#else
#error "x86_64 and aarch64 are known"
#endif

enum { EINTR = -4, EAGAIN = -11, EINPROGRESS = -115 };

/* The compiler may call these by itself. */
void *memcpy(void *to, const void *from, u64 size) {
  for (u64 i = 0; i < size; i++) ((volatile u8 *)to)[i] = ((const u8 *)from)[i];
  return to;
}
void *memset(void *at, int value, u64 size) {
  for (u64 i = 0; i < size; i++) ((volatile u8 *)at)[i] = (u8)value;
  return at;
}

static void leave(int code) {
  for (;;) call(EXIT, code, 0, 0, 0, 0);
}
