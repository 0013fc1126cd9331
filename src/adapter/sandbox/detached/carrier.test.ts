/** What a hostile container may send in place of the carrier: malformed and unbounded answers end the connection. */
import { afterEach, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LIMITS } from "../../../core/limits.ts";
import { CARRIER_PROGRAMS } from "../relay/program.ts";
import { createCarriedFolder } from "./carried-folder.ts";
import { type Carrier, createCarrier } from "./carrier.ts";

test("the carrier's programs are made of the sources beside them", () => {
  const sources = ["../relay/system.h", "carrier.c"].map((name) => readFileSync(join(import.meta.dir, name)));
  const source = createHash("sha256").update(Buffer.concat(sources)).digest("hex");
  for (const program of new Set(Object.values(CARRIER_PROGRAMS)))
    expect(readFileSync(program).includes(`skep-carrier-source:${source}`)).toBe(true);
});

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

interface Said {
  status?: number;
  mode?: number;
  size?: number;
  name?: string;
  target?: string;
}
const [FILE, FOLDER, LINK] = [0o100644, 0o040755, 0o120777];
const [LEFT, END, FAULT] = [{ status: 1_001 }, { status: 1_002 }, 1_003];

function record({ status = 0, mode = 0, size = 0, name = "", target = "" }: Said): Buffer {
  const head = Buffer.alloc(40);
  head.writeUInt32LE(status, 0);
  head.writeUInt32LE(mode, 4);
  head.writeBigUInt64LE(BigInt(size), 16);
  head.writeUInt16LE(name.length, 36);
  head.writeUInt16LE(target.length, 38);
  return Buffer.concat([head, Buffer.from(name + target, "latin1")]);
}

/** A container that gives prepared answers to each request, in pieces of seven bytes. */
function hostile(answers: (Said | Buffer)[][]): { carrier: Carrier; hasEnded(): boolean } {
  const left = [...answers];
  let over = false;
  const carrier: Carrier = createCarrier(
    async () => {
      const all = Buffer.concat((left.shift() ?? []).map((one) => (Buffer.isBuffer(one) ? one : record(one))));
      for (let at = 0; at < all.length; at += 7) carrier.feed(all.subarray(at, at + 7));
    },
    () => {
      over = true;
    },
  );
  return { carrier, hasEnded: () => over };
}

describe("a listing", () => {
  const deep = Array.from({ length: LIMITS.carriedDepth + 1 }, () => ({ mode: FOLDER, name: "d" }));
  const cases: [what: string, said: (Said | Buffer)[], code: string][] = [
    ...["", ".", "..", "a/b", "../x", "/etc", "a\0b", "x".repeat(256)].map((name): [string, Said[], string] => [
      `with the name ${JSON.stringify(name.slice(0, 10))}`,
      [{ mode: FILE, name }, END],
      "sandbox_lost",
    ]),
    ["that leaves more folders than it entered", [{ mode: FOLDER, name: "a" }, LEFT, LEFT, END], "sandbox_lost"],
    ["that ends inside of a folder", [{ mode: FOLDER, name: "a" }, END], "sandbox_lost"],
    ["with a link that leads to a text with a zero", [{ mode: LINK, name: "l", target: "a\0b" }, END], "sandbox_lost"],
    ["with a link of 60,000 bytes", [{ mode: LINK, name: "l", target: "x".repeat(60_000) }, END], "sandbox_lost"],
    ["of faults without folders", [{ status: FAULT }, { status: FAULT }, { status: FAULT }, END], "sandbox_lost"],
    ["with a status that there is not", [{ status: 7, name: "a" }, END], "sandbox_lost"],
    ["of folders too deep", deep, "workspace_too_large"],
    ["of files too large", [{ mode: FILE, name: "a", size: LIMITS.carriedBytes + 1 }, END], "workspace_too_large"],
    ["that is followed by what nobody asked", [END, Buffer.from("more")], "none"],
  ];
  test.each(cases)("%s is refused", async (_what, said, code) => {
    const { carrier, hasEnded } = hostile([said]);
    const failure = await carrier.list().then(
      () => ({ code: "none" }),
      (error) => error,
    );
    expect(failure.code).toBe(code);
    expect(hasEnded()).toBe(true);
    // Further calls fail at once.
    await expect(carrier.list()).rejects.toMatchObject({ status: expect.any(Number) });
  });
});

describe("what is brought back", () => {
  const into = () => {
    const home = mkdtempSync(join(tmpdir(), "skep-carried-"));
    folders.push(home);
    return home;
  };

  test("has no more rights than plain permissions, and pipes, devices and sockets are left there", async () => {
    const home = into();
    const { carrier } = hostile([
      [
        { mode: 0o104755, name: "setuid", size: 2 },
        { mode: 0o010644, name: "pipe" },
        { mode: 0o020644, name: "device" },
        { mode: 0o140644, name: "socket" },
        { mode: 0o042777, name: "folder" },
        LEFT,
        END,
      ],
      [{ mode: 0o106755, size: 2 }, Buffer.from("hi")],
    ]);
    await createCarriedFolder(home).bringBack(carrier);
    expect(readdirSync(home).sort()).toEqual(["folder", "setuid"]);
    const { statSync } = await import("node:fs");
    expect((statSync(join(home, "setuid")).mode & 0o7777).toString(8)).toBe("755");
    expect((statSync(join(home, "folder")).mode & 0o7000).toString(8)).toBe("0");
  });

  test.each([
    ["larger than was allowed", { mode: FILE, size: 2 ** 45 }],
    ["no file", { mode: FOLDER, size: 0 }],
  ])("as %s ends the connection, and leaves no part of a file", async (_what, answer) => {
    const home = into();
    const { carrier } = hostile([[{ mode: FILE, name: "a", size: 4 }, END], [answer]]);
    await expect(createCarriedFolder(home).bringBack(carrier)).rejects.toMatchObject({ code: "sandbox_lost" });
    expect(readdirSync(home)).toEqual([]);
  });

  test("through a link that was listed as a folder reaches nothing outside", async () => {
    const [home, outside] = [into(), into()];
    const carried = createCarriedFolder(home);
    // The listings have first a link that leads out, then a folder of the same name with a file in it, then both.
    const link = { mode: LINK, name: "d", target: outside };
    const inside = [{ mode: FOLDER, name: "d" }, { mode: FILE, name: "f", size: 1 }, LEFT];
    const { carrier } = hostile([
      [link, END],
      [...inside, END],
      [{ mode: FILE, size: 1 }, Buffer.from("x")],
      [link, ...inside, END],
      [{ mode: FILE, size: 1 }, Buffer.from("y")],
    ]);
    await carried.bringBack(carrier);
    await carried.bringBack(carrier);
    expect(readFileSync(join(home, "d/f"), "utf8")).toBe("x");
    await carried.bringBack(carrier).catch(() => {});
    expect(readdirSync(outside)).toEqual([]);
  });

  test("is what was there before where the connection breaks in the middle of a file", async () => {
    const home = into();
    const carried = createCarriedFolder(home);
    const whole = hostile([
      [{ mode: FILE, name: "a", size: 3 }, END],
      [{ mode: FILE, size: 3 }, Buffer.from("old")],
    ]);
    await carried.bringBack(whole.carrier);
    const broken = hostile([
      [{ mode: FILE, name: "a", size: 9 }, END],
      [{ mode: FILE, size: 9 }, Buffer.from("new ")],
    ]);
    const bringing = carried.bringBack(broken.carrier);
    bringing.catch(() => {});
    // Waits until the server has read what was written.
    await Bun.sleep(0);
    while (readdirSync(home).length < 2) await Bun.sleep(1);
    broken.carrier.end(new (await import("../../../core/errors.ts")).Problem(503, "sandbox_lost", "It is gone."));
    await expect(bringing).rejects.toMatchObject({ code: "sandbox_lost" });
    expect(readdirSync(home)).toEqual(["a"]);
    expect(readFileSync(join(home, "a"), "utf8")).toBe("old");
  });
});
