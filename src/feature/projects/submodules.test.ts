/** What an address in `.gitmodules` may reach, and with whose credentials. */
import { expect, test } from "bun:test";
import type { CommitFetch, Submodule } from "../../adapter/git.ts";
import { createLog } from "../../process/log.ts";
import { createSubmodules } from "./submodules.ts";

const OWN = "https://code.example.com/team/web.git";
const hash = "a".repeat(40);

/**
 * Fetches the submodules of a project; the submodules of each commit are given. @returns git's requests, and the
 * missing submodules.
 */
async function fetching(repository: string, urls: string[], nested: string[] = []) {
  const asked: CommitFetch[] = [];
  const toSubmodules = (all: string[]): Submodule[] => all.map((url, at) => ({ path: `m${at}`, commit: hash, url }));
  const submodules = createSubmodules({
    guard: {
      isListed: () => false,
      assertSpelling: (host: string) => host,
      resolve: async () => [{ address: "203.0.113.1", family: 4 }],
    } as never,
    rules: { allowLocal: true, isListed: () => false, assertSpelling: (host) => host },
    authorizationFor: async () => "Bearer of-the-host",
    git: {
      submodules: async (at) => (at.includes("/modules/") ? toSubmodules(nested) : toSubmodules(urls)),
      fetchCommit: async (request) => void asked.push(request),
      placeCommit: async () => {},
    },
    log: createLog({ logLevel: "silent" }),
    folder: "/nowhere",
  });
  const { missing } = await submodules.fetch({ id: "proj_1", repository } as never, hash, undefined);
  return { asked, missing };
}

test("the code host's token goes to submodules on the project's own host, and to no other host", async () => {
  const { asked } = await fetching(OWN, ["../lib.git", "https://other.example.com/lib.git"]);
  expect(asked.map(({ source, authorization }) => [source, authorization])).toEqual([
    ["https://code.example.com/team/lib.git", "Bearer of-the-host"],
    ["https://other.example.com/lib.git", undefined],
  ]);
});

test("nor to what another repository names as its submodule", async () => {
  const { asked } = await fetching(
    OWN,
    ["https://other.example.com/lib.git"],
    ["https://code.example.com/private.git"],
  );
  expect(asked.slice(1).map(({ authorization }) => authorization)).not.toContain("Bearer of-the-host");
  expect(asked.length).toBeGreaterThan(1);
});

test("no path of this machine and no ssh address is reached from a project of another place", async () => {
  const { asked, missing } = await fetching(OWN, [
    "/srv/private.git",
    "file:///srv/x.git",
    "git@code.example.com:x.git",
  ]);
  expect(asked).toEqual([]);
  expect(missing.map(({ path }) => path)).toEqual(["m0", "m1", "m2"]);
});

test("twenty are fetched, three in one another; the others are named", async () => {
  const many = Array.from({ length: 21 }, (_, at) => `https://x.example.com/${at}.git`);
  const wide = await fetching(OWN, many);
  expect([wide.asked.length, wide.missing.length]).toEqual([20, 1]);
  const deep = await fetching(OWN, ["https://x.example.com/a.git"], ["https://x.example.com/a.git"]);
  expect([deep.asked.length, deep.missing.length]).toEqual([3, 1]);
});
