/**
 * A23: names that resolve differently between check and connection, with a real name server, real sockets and a real
 * git. 127.0.0.2 stands for the public address that an attacker shows first, 127.0.0.1 for the target.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAddressGuard } from "../../adapter/address-guard.ts";
import { createGit } from "../../adapter/git.ts";
import { createGuardedFetch } from "../../adapter/guarded-fetch.ts";
import { type NameServer, startNameServer } from "../name-server.ts";
import { lacks } from "../parts.ts";

// A generous limit for busy machines: these tests wait for events, not for fixed times.
setDefaultTimeout(300_000);

// On other systems only 127.0.0.1 exists.
const SHOWN = process.platform === "linux" ? "127.0.0.2" : "127.0.0.1";
const INSIDE = "127.0.0.1";
const NAMES: Record<string, (time: number) => string[]> = {
  "turning.example.test": (time) => [time === 0 ? SHOWN : INSIDE],
  "both.example.test": () => [SHOWN, INSIDE],
  "inside.example.test": () => [INSIDE],
  "steady.example.test": () => [SHOWN],
};
const reached: string[] = [];
const shown = Bun.serve({
  hostname: SHOWN,
  port: 0,
  fetch(request) {
    const { pathname, hostname, port } = new URL(request.url);
    reached.push(SHOWN);
    if (pathname === "/again")
      return new Response(null, { status: 302, headers: { Location: `http://${hostname}:${port}/` } });
    return new Response("what everybody may see");
  },
});
const inside = Bun.serve({
  hostname: INSIDE,
  port: SHOWN === INSIDE ? 0 : (shown.port ?? 0),
  fetch() {
    reached.push(INSIDE);
    return new Response("what nobody may see");
  },
});
const folder = mkdtempSync(join(tmpdir(), "skep-rebinding-"));
let names: NameServer;
beforeAll(async () => {
  names = await startNameServer((name, time) => NAMES[name]?.(time) ?? []);
});
afterAll(async () => {
  names.stop();
  await shown.stop(true);
  await inside.stop(true);
  rmSync(folder, { recursive: true, force: true });
});

const never = new AbortController().signal;
const guard = () => createAddressGuard([`${SHOWN}/32`], (host) => names.lookUp(host));
async function tryFetch(host: string, path = "/"): Promise<string> {
  reached.length = 0;
  const fetch = createGuardedFetch({ resolve: guard().resolve, userAgent: "test", timeoutMs: 10_000 });
  try {
    const page = await fetch(`http://${host}:${shown.port}${path}`, never);
    return new TextDecoder().decode(page.body);
  } catch (error) {
    return (error as { code: string }).code;
  }
}

describe.skipIf(lacks("Linux", SHOWN !== INSIDE))("A23: a page", () => {
  test("comes from the address that was checked, though the name has turned by then", async () => {
    names.asked.length = 0;
    expect(await tryFetch("turning.example.test")).toBe("what everybody may see");
    expect([names.asked, reached]).toEqual([["turning.example.test"], [SHOWN]]);
  });

  test("that redirects to its own name is checked again, and refused once that has turned", async () => {
    names.asked.length = 0;
    expect(await tryFetch("turning.example.test", "/again")).toBe("address_refused");
    expect([names.asked.length, reached]).toEqual([2, [SHOWN]]);
  });

  test("of a name with one private address among others, or only private ones, is refused unasked", async () => {
    for (const name of ["both.example.test", "inside.example.test"])
      expect(await tryFetch(name)).toBe("address_refused");
    expect(await tryFetch("unknown.example.test")).toBe("host_unknown");
    expect(reached).toEqual([]);
  });
});

describe.skipIf(lacks("Linux", SHOWN !== INSIDE))("A23: a clone", () => {
  test("connects to the address that was checked, whatever the name says later", async () => {
    names.asked.length = 0;
    reached.length = 0;
    const host = "turning.example.test";
    const [{ address } = { address: "" }] = await guard().resolve(host);
    expect(await names.lookUp(host)).toEqual([{ address: INSIDE, family: 4 }]);
    const clone = createGit({ env: { PATH: process.env["PATH"] ?? "" } }).clone({
      source: `http://${host}:${shown.port}/x.git`,
      transport: "http",
      pin: { host, port: shown.port ?? 0, address },
      repository: join(folder, "git"),
      workspace: join(folder, "workspace"),
      signal: never,
    });
    // There is no repository at that address; what counts is where git looked for it.
    await clone.catch(() => {});
    expect([...new Set(reached)]).toEqual([SHOWN]);
  });
});
