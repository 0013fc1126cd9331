/**
 * Known values are masked in every form, however the text is split, in time that depends on the text's length only.
 */
import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { createMasker, createMasking, maskedPreview, maskLong } from "./masking.ts";
import { MAX_NEEDLE } from "./needles.ts";

const VALUE = "sk-canary/0123+4567?a b=ü~é";
const KEY = `-----BEGIN OPENSSH PRIVATE KEY-----\n${["b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW", "QyNTUxOQAAACBz9n1kqXw0mCkZ0bq"].join("\n")}\n-----END OPENSSH PRIVATE KEY-----\n`;
const words = (seed: number) => createHash("sha256").update(`value ${seed}`).digest("base64url");

describe("masking", () => {
  const masker = createMasker({ A: VALUE, KEY });
  const mask = (text: string) => masker.text(text);

  test("a value is masked as it is and in every usual encoding", () => {
    const bytes = Buffer.from(VALUE);
    const forms = [
      VALUE,
      JSON.stringify(VALUE).slice(1, -1),
      encodeURIComponent(VALUE),
      encodeURIComponent(VALUE).replace(/%../g, (code) => code.toLowerCase()),
      new URLSearchParams({ x: VALUE }).toString().slice(2),
      bytes.toString("hex"),
      bytes.toString("hex").toUpperCase(),
    ];
    for (const form of forms) expect([form, mask(`>${form}<`)]).toEqual([form, ">[secret:A]<"]);
  });

  test("base64 is found at each of its three places, in both alphabets, with what is around it", () => {
    for (const [before, after] of [
      ["", ""],
      ["x", "y"],
      ["xy", "yz"],
      ["xyz", "\n"],
      ["user:", "@host/path"],
    ] as const)
      for (const encoding of ["base64", "base64url"] as const) {
        const text = Buffer.from(`${before}${VALUE}${after}`).toString(encoding);
        const masked = mask(text);
        expect([text, masked]).toEqual([text, expect.stringContaining("[secret:A]")]);
        expect(masked.replace("[secret:A]", "").length).toBeLessThanOrEqual(
          Buffer.from(`${before}${after}`).toString("base64").length + 4,
        );
      }
  });

  test("of a value of several lines each long line is masked by itself, and what frames a key file is not", () => {
    expect(mask(KEY.split("\n")[1]!)).toBe("[secret:KEY]");
    expect(mask(`a\n${KEY}b`)).toBe("a\n[secret:KEY]\n\n\n\nb");
    expect(mask("-----BEGIN OPENSSH PRIVATE KEY-----")).toBe("-----BEGIN OPENSSH PRIVATE KEY-----");
    const wrapped = Buffer.from(KEY).toString("base64").replace(/.{76}/g, "$&\n");
    expect(mask(wrapped).replaceAll(/\[secret:KEY\]|\n/g, "").length).toBeLessThan(16);
    const hex = Buffer.from(KEY).toString("hex").replace(/.{60}/g, "$&\n");
    expect(mask(hex).replaceAll(/\[secret:KEY\]|\n/g, "").length).toBeLessThan(16);
  });

  test("values that overlap or follow each other leave nothing of either", () => {
    const two = createMasker({ ONE: "abcdefgh", TWO: "fghijklm" });
    expect(two.text("-abcdefghijklm-")).toBe("-[secret:ONE]-");
    expect(two.text("-abcdefghabcdefgh-")).toBe("-[secret:ONE]-");
    expect(two.text("-abcdefghfghijklm-")).toBe("-[secret:ONE][secret:TWO]-");
    expect(createMasker({ A: "secret-1", B: "secret-1-and-more" }).text("secret-1-and-more secret-1")).toBe(
      "[secret:B] [secret:A]",
    );
  });

  test("values under six characters are passed over", () => {
    expect(createMasker({ SHORT: "12345" }).text("12345")).toBe("12345");
    expect(createMasker({ SIX: "123456" }).text("a123456b")).toBe("a[secret:SIX]b");
  });

  test("JSON is masked through its strings and keys, however deep it is", () => {
    expect<unknown>(masker.json({ [VALUE]: [VALUE, 1, null, { a: VALUE }] })).toEqual({
      "[secret:A]": ["[secret:A]", 1, null, { a: "[secret:A]" }],
    });
    let deep: unknown = VALUE;
    for (let i = 0; i < 100_000; i++) deep = [deep];
    expect(JSON.stringify(masker.json(deep))).toContain("nested too deep");
    expect(masker.json(JSON.parse(`{"__proto__": {"a": 1}}`))).toEqual(JSON.parse(`{"__proto__": {"a": 1}}`));
  });

  const texts = fc.array(
    fc.oneof(
      fc.constantFrom(VALUE, KEY, "sk-canary", VALUE.slice(0, -1), VALUE.slice(1), KEY.slice(0, -2), "\n", "ü"),
      fc.constantFrom(...["base64", "hex", "base64url"].map((form) => Buffer.from(VALUE).toString(form as "hex"))),
      fc.string({ maxLength: 12 }),
    ),
    { maxLength: 12 },
  );

  test("in pieces the same comes out as in one, and nothing that could be the start of a value comes early", () => {
    fc.assert(
      fc.property(texts, fc.array(fc.nat(30), { maxLength: 40 }), (parts, sizes) => {
        const text = parts.join("");
        const stream = masker.stream();
        let shown = "";
        let at = 0;
        for (const size of sizes) {
          shown += stream.push(text.slice(at, at + size));
          at += size;
        }
        shown += stream.push(text.slice(at)) + stream.end();
        expect(shown).toBe(mask(text));
        expect(shown).not.toContain(VALUE);
      }),
      { numRuns: 500 },
    );
  });

  test("a part that is cut anywhere shows nothing of a value but what is whole in another place", () => {
    for (const value of [VALUE, KEY.trim(), Buffer.from(KEY).toString("base64")]) {
      const text = `${"left ".repeat(20)}${value}${" right".repeat(20)}`;
      for (let cut = 90; cut <= 110 + value.length; cut++) {
        const head = masker.part(text.slice(0, cut), { after: true });
        const tail = masker.part(text.slice(cut), { before: true });
        for (const shown of [head, tail])
          for (const piece of shown.replaceAll(/\[secret:\w+\]/g, "\0").split(/\0|\n/))
            expect([cut, value.includes(piece.trim()) && piece.trim().length > 5 && !piece.includes("-----")]).toEqual([
              cut,
              false,
            ]);
      }
      expect(masker.part(text, {})).toBe(mask(text));
    }
  });

  test("of a part that begins inside a value all but one of its characters may be hidden, and no more", () => {
    const value = `${words(1)}${words(2)}`.slice(0, MAX_NEEDLE);
    const one = createMasker({ ONE: value });
    expect(one.part(`${value.slice(1)} right`, { before: true })).toBe(" right");
    expect(one.part("right", { before: true })).toBe("");
    expect(one.part(`${"left ".repeat(20)}${value.slice(0, -1)}`, { after: true })).toBe("left ".repeat(20));
  });

  test("a long text is masked in slices as in one piece, up to its last character", async () => {
    for (const length of [100, 128 * 1024 - 10, 128 * 1024, 300_000]) {
      const text = `${"x".repeat(length)}${VALUE}${"y".repeat(length)}${VALUE.slice(0, -1)}`;
      expect((await maskLong(masker, text)) === mask(text)).toBe(true);
    }
  });

  test("a preview shows at most four characters of each end, and a third of the value in all", () => {
    const previews = { "": "…", "12345": "…", "123456": "1…6", "12345678901": "1…1", "123456789012": "12…12" };
    for (const [value, preview] of Object.entries(previews)) expect(maskedPreview(value)).toBe(preview);
    expect(maskedPreview("0123456789".repeat(10))).toBe("0123…6789");
    expect(maskedPreview("🦊".repeat(6))).toBe("🦊…🦊");
  });

  test("a value is masked from the moment it is known, in streams under way too, until it is forgotten", () => {
    const masking = createMasking();
    const stream = masking.stream();
    expect(stream.push("0123456789 ")).toBe("0123456789 ");
    const forget = masking.add("NEW", "0123456789");
    const other = masking.add("SAME", "0123456789");
    expect(stream.push("01234")).toBe("");
    expect(stream.push("56789 ") + stream.end()).toMatch(/^\[secret:(NEW|SAME)\] $/);
    forget();
    expect(masking.text("0123456789")).toBe("[secret:SAME]");
    other();
    expect(masking.text("0123456789")).toBe("0123456789");
  });

  test("the same is masked as by looking for each form everywhere", () => {
    const values = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`S${i}`, words(i).slice(0, 6 + (i % 30))]));
    const many = createMasker(values);
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.constantFrom(...Object.values(values)), fc.string()), { maxLength: 20 }),
        (parts) => {
          const shown = many.text(parts.join(""));
          for (const value of Object.values(values)) expect(shown.includes(value)).toBe(false);
        },
      ),
    );
  });

  test("a thousand secrets in a megabyte cost a time that grows with the megabyte alone", () => {
    const masking = createMasking();
    for (let i = 0; i < 1_000; i++) masking.add(`S${i}`, `sk-proj-${words(i)}`);
    const cost = (text: string) => {
      const before = process.threadCpuUsage();
      masking.text(text);
      const { user, system } = process.threadCpuUsage(before);
      return (user + system) / 1e3;
    };
    masking.text("warm up");
    const megabyte = (piece: string) => piece.repeat(Math.ceil(1e6 / piece.length)).slice(0, 1e6);
    const costs = {
      ordinary: cost(megabyte("The quick brown fox jumps over the lazy dog, 0123456789. ")),
      "shared beginnings": cost(megabyte("sk-proj-")),
      "almost values": cost(megabyte(`sk-proj-${words(7).slice(0, -1)}`)),
      values: cost(megabyte(`sk-proj-${words(7)} `)),
      base64: cost(megabyte(Buffer.from("sk-proj-").toString("base64"))),
    };
    if (process.env["SHOW_COSTS"]) console.log(costs);
    for (const [name, ms] of Object.entries(costs)) expect([name, ms < 400]).toEqual([name, true]);
  });

  test("one longest value is ready in milliseconds, and its needles stay short", () => {
    const masking = createMasking();
    const before = process.threadCpuUsage();
    masking.add(
      "LONG",
      words(1)
        .repeat(1_600)
        .slice(0, 64 * 1024),
    );
    masking.text("warm");
    const { user } = process.threadCpuUsage(before);
    expect(user / 1e3).toBeLessThan(500);
    expect(MAX_NEEDLE).toBe(64);
  });
});
