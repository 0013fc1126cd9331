/**
 * Checks for a newer version. It contacts nothing unless the operator named a manifest, sends nothing about this
 * instance, and trusts only what the release key has signed.
 */
import { type Clock, HOUR_MS, toTimestamp } from "../../core/clock.ts";
import { isProblem, messageOf } from "../../core/errors.ts";
import { readBounded } from "../../core/read-bounded.ts";
import { compareVersions, MANIFEST_BYTES, openManifest } from "../../core/update-manifest.ts";
import type { BuildInfo } from "../../core/version.ts";
import type { UpdateCheck, Version } from "./model.ts";

interface UpdatesDeps {
  build: BuildInfo;
  clock: Clock;
  /** Address of the manifest; undefined: nothing is contacted. */
  manifestUrl: string | undefined;
  /** The release key: an Ed25519 public key, 32 bytes in base64. */
  publicKey: string;
  settings(): { check: boolean; interval_hours: number };
  notices: {
    notify(notice: { level: "info"; title: string; detail: string; key: string }): void;
    resolve(key: string): void;
  };
}

export type Updates = ReturnType<typeof createUpdates>;

const KEPT_MS = 5 * 60_000;
const TIMEOUT_MS = 15_000;
const KEY = "update-available";

/** Fetches the text at an address, with a limit on its size. @throws Error. */
async function fetchText(url: string, limitBytes: number, signal: AbortSignal): Promise<string> {
  const answer = await fetch(url, { signal, headers: { Accept: "application/json", "User-Agent": "skep" } });
  if (!answer.ok) throw new Error(`it answered ${answer.status}`);
  return (await readBounded(answer.body, limitBytes, () => new Error("it is too large"))).toString("utf8");
}

export function createUpdates({ build, clock, manifestUrl, publicKey, settings, notices }: UpdatesDeps) {
  const current = build.version;
  let last: { at: number; answer: UpdateCheck } | undefined;
  let underWay: Promise<UpdateCheck> | undefined;
  const createUnchecked = (reason: string): UpdateCheck => ({
    checked: false,
    current,
    update_available: false,
    reason,
  });

  async function ask(url: string): Promise<UpdateCheck> {
    try {
      const text = await fetchText(url, MANIFEST_BYTES, AbortSignal.timeout(TIMEOUT_MS));
      const { version: latest, released_at, notes_url, files } = openManifest(text, publicKey);
      const update_available = compareVersions(latest, current) > 0;
      const reason = Object.hasOwn(files, build.platform) ? undefined : `It holds nothing for ${build.platform}.`;
      return {
        checked: true,
        current,
        latest,
        update_available,
        released_at,
        checked_at: toTimestamp(clock.now()),
        ...(notes_url ? { url: notes_url } : {}),
        ...(reason ? { reason } : {}),
      };
    } catch (error) {
      const why = isProblem(error) ? error.detail : `The manifest could not be read: ${messageOf(error)}.`;
      return { ...createUnchecked(why), checked_at: toTimestamp(clock.now()) };
    }
  }
  async function check(): Promise<UpdateCheck> {
    if (manifestUrl === undefined) return createUnchecked("UPDATE_CHECK_URL is not set; nothing is contacted.");
    if (!settings().check) return createUnchecked("The update check is switched off in the settings.");
    if (last && clock.monotonic() - last.at < KEPT_MS) return last.answer;
    underWay ??= ask(manifestUrl).finally(() => {
      underWay = undefined;
    });
    const answer = await underWay;
    last = { at: clock.monotonic(), answer };
    return answer;
  }
  let looked = Number.NEGATIVE_INFINITY;
  return {
    version: (): Version => ({
      version: current,
      api_version: "v1",
      commit: build.commit,
      built_at: build.builtAt,
      runtime: build.runtime,
      platform: build.platform,
    }),
    /** Checks for an update. An answer of the last minutes is reused. Never throws. */
    check,
    /** Checks periodically and notifies administrators of a newer version. */
    duty: {
      name: "update-check",
      everyMs: 600_000,
      async run() {
        const { check: wanted, interval_hours } = settings();
        if (!wanted || manifestUrl === undefined) return;
        if (clock.monotonic() - looked < interval_hours * HOUR_MS) return;
        looked = clock.monotonic();
        const { checked, latest, update_available } = await check();
        if (!checked) return;
        if (!update_available) return notices.resolve(KEY);
        const detail = `This is ${current}. Install it with: skep update`;
        notices.notify({ level: "info", title: `Version ${latest} is available`, detail, key: KEY });
      },
    },
  };
}
