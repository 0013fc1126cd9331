/** The names that the C library may have on this system, the likeliest first. */
const arch = process.arch === "arm64" ? "aarch64" : "x86_64";

export const C_LIBRARIES: readonly string[] =
  process.platform === "darwin" ? ["/usr/lib/libSystem.B.dylib"] : ["libc.so.6", `libc.musl-${arch}.so.1`];
