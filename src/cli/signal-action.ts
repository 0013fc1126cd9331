/**
 * The runtime handles a signal in its event loop, so a process whose loop is stuck never handles one. The system itself can
 * be asked to call a signal's handler once and to end the process at the next (`SA_RESETHAND`): that needs no loop.
 */
import { dlopen, ptr } from "bun:ffi";
import { constants } from "node:os";
import { openCLibrary } from "../core/c-library.ts";

/** Where `struct sigaction` keeps its flags, in bytes, and the flag. The same on x64 and arm64. */
const LAYOUT = {
  linux: { flagsAt: 8 + 128, resetHandler: 0x8000_0000 },
  darwin: { flagsAt: 8 + 4, resetHandler: 0x4 },
} as const;
/** More than the struct takes anywhere. */
const STRUCT_BYTES = 256;

/** Gives a signal that this process listens for its default action after the first time. Elsewhere it does nothing. */
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
    // Then only a process whose loop runs handles a signal.
    return undefined;
  }
}
