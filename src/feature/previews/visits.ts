/**
 * Decides who may look at a preview. A log-in at the server never reaches a preview's origin. Instead, a user gets a
 * ticket; the preview's address accepts it once and sets a cookie that is valid for this preview and origin only.
 */
import { randomBytes } from "node:crypto";
import { isProblem, Problem } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Caller } from "../../http/caller.ts";
import { stillHolds } from "../../http/standing.ts";
import type { Core } from "../feature.ts";
import type { LivePreview, Previews } from "./service.ts";

const TICKET_MS = 60_000;
const OPENING = "/.skep/open";

/** The known parts of a request for a preview's address. */
interface VisitorsRequest {
  method: string;
  target: string;
  host: string;
  /** Whether another site's page made the browser send the request. */
  isForeign: boolean;
  cookie: string | undefined;
}

interface Refusal {
  status: number;
  headers: Record<string, string>;
  text: string;
}

interface Visit {
  preview: LivePreview;
  origin: string;
  signal: AbortSignal;
  count(bytes: number): boolean;
  onEnd(): void;
}

interface Pass {
  preview: LivePreview;
  caller: Caller;
  until: number;
}

interface Use {
  open: number;
  bytes: number;
}

interface VisitsDeps extends Pick<Core, "clock"> {
  previews: Pick<Previews, "byName" | "maySee">;
  /** Address pattern such as `https://*.preview.example.org`, with the port that visitors use. */
  address: string;
}

const NOTHING: Refusal = {
  status: 404,
  headers: {},
  text: "There is no preview here for you. Open it from the page of its run; an address that was sent to you is no use.\n",
};
const toRefusal = (status: number, text: string, headers: Record<string, string> = {}): Refusal => ({
  status,
  headers,
  text: `${text}\n`,
});

export type Visits = ReturnType<typeof createVisits>;

export function createVisits({ previews, clock, address }: VisitsDeps) {
  const tickets = new Map<string, Pass>();
  const visits = new Map<string, Pass>();
  const uses = new Map<string, Use>();
  const isSecure = address.startsWith("https:");
  const cookieName = isSecure ? "__Host-skep_preview" : "skep_preview";
  const originOf = (preview: LivePreview) => address.replace("*", preview.name);
  const dropOld = (passes: Map<string, Pass>) => {
    const now = clock.monotonic();
    for (const [key, { until, preview }] of passes) if (until < now || preview.signal.aborted) passes.delete(key);
  };
  const holds = ({ preview, caller, until }: Pass) =>
    until >= clock.monotonic() && stillHolds(caller) && previews.maySee(preview, caller);
  const useOf = ({ id, signal }: LivePreview): Use => {
    const known = uses.get(id);
    if (known) return known;
    const use = { open: 0, bytes: 0 };
    uses.set(id, use);
    signal.addEventListener("abort", () => uses.delete(id), { once: true });
    return use;
  };
  const add = (passes: Map<string, Pass>, pass: Pass): string => {
    dropOld(passes);
    const ofPreview = [...passes].filter(([, { preview }]) => preview === pass.preview);
    if (ofPreview.length >= LIMITS.previewVisits) passes.delete(ofPreview[0]![0]);
    const key = randomBytes(32).toString("base64url");
    passes.set(key, pass);
    return key;
  };

  /** Accepts a ticket once and lets its holder in. */
  function enter(preview: LivePreview, target: string): Refusal {
    const ticket = new URLSearchParams(target.split("?")[1]).get("ticket") ?? "";
    const pass = tickets.get(ticket);
    tickets.delete(ticket);
    if (!pass || pass.preview !== preview || !holds(pass)) return NOTHING;
    const key = add(visits, { ...pass, until: clock.monotonic() + LIMITS.previewVisitMs });
    const cookie = `${cookieName}=${key}; Path=/; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}`;
    return toRefusal(303, "Go on to the app.", { Location: preview.path, "Set-Cookie": cookie });
  }

  return {
    cookieName,
    /** @returns the address with a ticket, which lets this caller in. */
    ticket(preview: LivePreview, caller: Caller) {
      const key = add(tickets, { preview, caller, until: clock.monotonic() + TICKET_MS });
      return { url: `${originOf(preview)}${OPENING}?ticket=${key}`, expiresAt: clock.now() + TICKET_MS };
    },
    /**
     * The origin of a preview in a visitor's browser, by the name with which the Host begins. Undefined unless the Host
     * is exactly that origin's.
     */
    originAt: (host: string): string | undefined => {
      const preview = previews.byName(host.split(".")[0] ?? "");
      const origin = preview && originOf(preview);
      return origin !== undefined && new URL(origin).host === host ? origin : undefined;
    },
    /**
     * Lets a request pass, or says why not. A caller who may not see a preview gets the same answer as one who guesses
     * its name.
     */
    admit(request: VisitorsRequest): Refusal | Visit {
      const { host, target, method, cookie } = request;
      const preview = previews.byName(host.split(".")[0] ?? "");
      const origin = preview && originOf(preview);
      if (!preview || origin === undefined || new URL(origin).host !== host) return NOTHING;
      if (target.startsWith(`${OPENING}?`) && method === "GET") return enter(preview, target);
      const pass = cookie === undefined ? undefined : visits.get(cookie);
      if (!pass || pass.preview !== preview || !holds(pass)) return NOTHING;
      if (request.isForeign) return toRefusal(403, "Another page may not ask for this preview.");
      const use = useOf(preview);
      if (use.bytes >= LIMITS.previewBytes) return toRefusal(429, "This preview has carried as much as it may.");
      if (use.open >= LIMITS.previewConnectionsOfOne)
        return toRefusal(503, "Too many connections to this preview are open. Try again.", { "Retry-After": "1" });
      use.open += 1;
      return {
        preview,
        origin,
        signal: preview.signal,
        count: (bytes) => {
          use.bytes += bytes;
          // An open connection ends as soon as its visitor loses the right to the preview.
          return use.bytes < LIMITS.previewBytes && holds(pass);
        },
        onEnd() {
          use.open -= 1;
        },
      };
    },
  };
}

/** The page that a visitor sees while the app cannot be reached. It reloads by itself. */
export function explainFailure({ port }: Pick<LivePreview, "port">, error: unknown): Refusal {
  const isAbsent = isProblem(error) && error.code === "nothing_listens";
  const why = isAbsent ? `Nothing answers at port ${port} of the sandbox yet.` : "The sandbox cannot be reached now.";
  return toRefusal(502, `${why} This page asks again by itself.`, { Refresh: "2" });
}

/** The problem that tells which settings previews need. */
export const previewsOff = () =>
  new Problem(
    503,
    "previews_off",
    "Previews need addresses of their own. Set PREVIEW_URL (https://*.preview.example.org) and PREVIEW_PORT, and lead these names there; see docs/previews.md.",
  );
