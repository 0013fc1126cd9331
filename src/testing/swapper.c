/* Swaps pairs of names as fast as the kernel can, until it is killed: swapper A B [C D]…
   Stands alone (no C library), so that it runs in any container. */
#ifdef __x86_64__
static long call(long n, long a, long b, long c, long d, long e) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  __asm__ volatile("syscall" : "=a"(result) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8) : "rcx", "r11", "memory");
  return result;
}
#define RENAMEAT2 316
__asm__(".globl _start\n_start: mov %rsp, %rdi\nand $-16, %rsp\ncall swap\n");
#else
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
#define RENAMEAT2 276
__asm__(".globl _start\n_start: mov x0, sp\nbl swap\n");
#endif

void swap(long *stack) {
  long count = stack[0];
  char **names = (char **)(stack + 1);
  volatile long spin;
  for (long round = 0;; round++) {
    for (long at = 1; at + 1 < count; at += 2)
      call(RENAMEAT2, -100, (long)names[at], -100, (long)names[at + 1], 2);
    /* Vary the pause, so that a swap hits readers at every point of their work. */
    for (spin = (round * 7919) % 20000; spin > 0; spin--) {}
  }
}
