/**
 * The runtime handles a signal in its event loop, so a process whose loop is stuck never handles one. The kernel can be
 * asked to call a signal's handler once and to apply the default action at the next signal (`SA_RESETHAND`). That needs
 * no loop.
 */
import { dlopen, ptr } from "bun:ffi";
import { constants } from "node:os";
import { openCLibrary } from "../core/c-library.ts";

/**
 * The offset of the flags in `struct sigaction`, in bytes, and the value of the flag. Both are the same on x64 and
 * arm64.
 */
const LAYOUT = {
  linux: { flagsAt: 8 + 128, resetHandler: 0x8000_0000 },
  darwin: { flagsAt: 8 + 4, resetHandler: 0x4 },
} as const;
/** Larger than the struct on any platform. */
const STRUCT_BYTES = 256;

/**
 * Restores the default action of a signal that this process listens for, after its first delivery. Does nothing on
 * other platforms.
 */
export function actOnce(signal: "SIGINT" | "SIGTERM"): void {
  const { platform } = process;
  if (platform !== "linux" && platform !== "darwin") return;
  const layout = LAYOUT[platform];
  const sigaction = load();
  if (!sigaction) return;
  const number = constants.signals[signal];
  const action = new DataView(new ArrayBuffer(STRUCT_BYTES));
  const address = ptr(action);
  if (sigaction(number, null, address) !== 0) return;
  const flags = action.getUint32(layout.flagsAt, true);
  action.setUint32(layout.flagsAt, (flags | layout.resetHandler) >>> 0, true);
  sigaction(number, address, null);
}

function load() {
  try {
    const functions = { sigaction: { args: ["i32", "ptr", "ptr"], returns: "i32" } } as const;
    return openCLibrary((name) => dlopen(name, functions)).symbols.sigaction;
  } catch {
    // Without it, a process whose loop is stuck does not react to signals.
    return undefined;
  }
}
