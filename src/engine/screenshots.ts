/**
 * Takes screenshots of an app's pages with the browser in the sandbox's own image, as evidence of what a step left
 * running.
 */
import { messageOf } from "../core/errors.ts";
import { LIMITS } from "../core/limits.ts";
import { pngSize } from "../core/png-size.ts";
import type { Screenshot, StepPreview } from "./ports.ts";
import type { Sandbox } from "./sandbox.ts";

/** Exit code of the script when the image has no browser. */
const NO_BROWSER = 127;
const WINDOW = "1280,800";
/** Size of the largest screenshot as base64 with line breaks. */
const TEXT_BYTES = Math.ceil(LIMITS.screenshotBytes * 1.4);

/** Takes the address as its argument. The browser writes to a temporary folder outside the workspace. */
const SCRIPT = `for name in chromium chromium-browser google-chrome google-chrome-stable chrome-headless-shell; do
  browser=$(command -v "$name") && break
done
[ -n "$browser" ] || exit ${NO_BROWSER}
folder=$(mktemp -d) || exit 1
"$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars --no-first-run \\
  --user-data-dir="$folder/profile" --window-size=${WINDOW} --virtual-time-budget=5000 \\
  --screenshot="$folder/shot.png" "$1" >/dev/null 2>&1
code=1
[ -f "$folder/shot.png" ] && base64 "$folder/shot.png" && code=0
rm -rf "$folder"
exit $code`;

interface Shots {
  made: Screenshot[];
  /** A sentence that says why there are not more. */
  missing: string | undefined;
}

/** Takes the screenshots. Throws only when the signal aborts. */
export async function makeScreenshots(
  sandbox: Pick<Sandbox, "exec">,
  { port, screenshots }: Pick<StepPreview, "port" | "screenshots">,
  signal: AbortSignal,
): Promise<Shots> {
  const made: Screenshot[] = [];
  for (const path of screenshots) {
    const shot = await makeOne(sandbox, `http://127.0.0.1:${port}${path}`, signal);
    signal.throwIfAborted();
    if (typeof shot === "string") return { made, missing: `No screenshot of ${path}: ${shot}` };
    made.push({ path, ...shot });
  }
  return { made, missing: undefined };
}

async function makeOne(
  sandbox: Pick<Sandbox, "exec">,
  address: string,
  signal: AbortSignal,
): Promise<Omit<Screenshot, "path"> | string> {
  try {
    const { exitCode, output, omittedBytes, timedOut } = await sandbox.exec(["sh", "-c", SCRIPT, "sh", address], {
      timeoutMs: LIMITS.screenshotMs,
      maxOutputBytes: TEXT_BYTES,
      signal,
    });
    if (exitCode === NO_BROWSER) return "the image has no browser; add Chromium to it.";
    if (timedOut) return `the browser took longer than ${LIMITS.screenshotMs / 1_000} s.`;
    if (exitCode !== 0) return "the browser made none.";
    const png = Buffer.from(output, "base64");
    const size = pngSize(png);
    if (omittedBytes > 0 || png.length > LIMITS.screenshotBytes)
      return `it has more than ${LIMITS.screenshotBytes / 1024 ** 2} MiB.`;
    if (!size) return "what the browser made is no PNG picture.";
    if (Math.max(size.width, size.height) > LIMITS.screenshotPixels)
      return `it is wider or higher than ${LIMITS.screenshotPixels} pixels.`;
    return { png, ...size };
  } catch (error) {
    return messageOf(error);
  }
}
