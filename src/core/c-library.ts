/** The names that the C library may have on this system, the likeliest first. */
const arch = process.arch === "arm64" ? "aarch64" : "x86_64";
const NAMES = process.platform === "darwin" ? ["/usr/lib/libSystem.B.dylib"] : ["libc.so.6", `libc.musl-${arch}.so.1`];

/**
 * What `open` gives for the first of the C library's names that it does not refuse.
 * @throws Error where it refuses them all.
 */
export function openCLibrary<Opened>(open: (name: string) => Opened): Opened {
  for (const name of NAMES)
    try {
      return open(name);
    } catch {
      // Another of its names.
    }
  throw new Error(`the C library (${NAMES.join(", ")}) cannot be loaded`);
}
