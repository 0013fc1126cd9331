/** The names that the C library may have on this system, the likeliest first. */
const arch = process.arch === "arm64" ? "aarch64" : "x86_64";
const NAMES = process.platform === "darwin" ? ["/usr/lib/libSystem.B.dylib"] : ["libc.so.6", `libc.musl-${arch}.so.1`];

/**
 * Opens the C library by the first of its names that works.
 * @throws Error when none of the names works.
 */
export function openCLibrary<Opened>(open: (name: string) => Opened): Opened {
  for (const name of NAMES)
    try {
      return open(name);
    } catch {
      // Try the next name.
    }
  throw new Error(`the C library (${NAMES.join(", ")}) cannot be loaded`);
}
