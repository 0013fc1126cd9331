import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isProblem } from "../../core/errors.ts";
import { readNetscapeCookies, writeNetscapeCookies } from "./netscape.ts";

const row = (...fields: string[]) => fields.join("\t");
const GOOD = row(".example.com", "TRUE", "/", "TRUE", "4102444800", "sid", "abc");

const refusal = async (text: string): Promise<string> => {
  try {
    await readNetscapeCookies(text);
    return "";
  } catch (error) {
    if (!isProblem(error)) throw error;
    return `${error.status} ${error.detail}`;
  }
};

describe("the Netscape cookie file", () => {
  test("comments and blank lines are skipped, #HttpOnly_ rows are cookies, either line end is read", async () => {
    const text = `# Netscape HTTP Cookie File\r\n\r\n${GOOD}\r\n#HttpOnly_${row("www.example.com", "FALSE", "/a", "FALSE", "0", "t", "x y")}\n# end`;
    expect(await readNetscapeCookies(text)).toEqual([
      {
        domain: "example.com",
        includeSubdomains: true,
        path: "/",
        secure: true,
        httpOnly: false,
        expiresAt: 4102444800,
        name: "sid",
        value: "abc",
      },
      {
        domain: "www.example.com",
        includeSubdomains: false,
        path: "/a",
        secure: false,
        httpOnly: true,
        expiresAt: null,
        name: "t",
        value: "x y",
      },
    ]);
  });

  test("each broken rule is refused with its line and without the value that is there", async () => {
    const secret = "s3cret-value";
    const cases: [string, string][] = [
      [row("example.com", "TRUE", "/", "TRUE", "0", "n"), "seven fields"],
      [row("example.com", "TRUE", "/", "TRUE", "0", "n", secret, "more"), "seven fields"],
      [row("co.uk", "TRUE", "/", "TRUE", "0", "n", secret), "public suffix"],
      [row("com", "TRUE", "/", "TRUE", "0", "n", secret), "public suffix"],
      [row("exa mple.com", "TRUE", "/", "TRUE", "0", "n", secret), "domain"],
      [row("", "TRUE", "/", "TRUE", "0", "n", secret), "domain"],
      [row("a\u00a0b<b>.example.com", "TRUE", "/", "TRUE", "0", "n", secret), "domain"],
      [row("example.com", "YES", "/", "TRUE", "0", "n", secret), "TRUE or FALSE"],
      [row("example.com", "TRUE", "a", "TRUE", "0", "n", secret), "slash"],
      [row("example.com", "TRUE", "/", "TRUE", "soon", "n", secret), "number of seconds"],
      [row("example.com", "TRUE", "/", "TRUE", "-1", "n", secret), "number of seconds"],
      [row("example.com", "TRUE", "/", "TRUE", "0", "n=m", secret), "name"],
      [row("example.com", "TRUE", "/", "TRUE", "0", "n", `${secret}\u0000`), "control"],
      [row("example.com", "TRUE", "/", "TRUE", "0", "n", `${secret}\rSet-Cookie: a=b`), "control"],
    ];
    for (const [line, why] of cases) {
      const said = await refusal(`${GOOD}\n${line}`);
      expect([line, said]).toEqual([line, expect.stringMatching(new RegExp(`^422 Line 2: .*${why}`))]);
      expect(said).not.toContain(secret);
    }
    expect(await refusal("# nothing here\n")).toStartWith("422 There is no cookie");
    expect(await refusal(`${GOOD}\n`.repeat(5_001))).toStartWith("422 At most");
  });

  test("a host alone may be an address or localhost", async () => {
    for (const host of ["127.0.0.1", "localhost", "[::1]"])
      expect(await readNetscapeCookies(row(host, "FALSE", "/", "FALSE", "0", "n", "v"))).toHaveLength(1);
  });

  test("what was read is written so that it reads the same, without what has expired", async () => {
    const field = fc.stringMatching(/^[!-~]{1,20}$/);
    const cookie = fc.record({
      domain: fc.stringMatching(/^[a-z]{1,10}\.example\.org$/),
      includeSubdomains: fc.boolean(),
      path: fc.stringMatching(/^\/[a-z/]{0,10}$/),
      secure: fc.boolean(),
      httpOnly: fc.boolean(),
      expiresAt: fc.option(fc.integer({ min: 1, max: 4102444800 })),
      name: fc.stringMatching(/^[a-zA-Z0-9_-]{1,10}$/),
      value: field,
    });
    await fc.assert(
      fc.asyncProperty(fc.array(cookie, { minLength: 1, maxLength: 20 }), async (cookies) => {
        const now = 2_000_000_000_000;
        const kept = cookies.filter(({ expiresAt }) => expiresAt === null || expiresAt * 1_000 > now);
        const text = writeNetscapeCookies(cookies, now);
        if (kept.length > 0) expect(await readNetscapeCookies(text)).toEqual(kept);
      }),
    );
  });

  test("any bytes are read or refused, never crash", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary", maxLength: 300 }), async (text) => {
        expect(await refusal(text)).toMatch(/^$|^422 /);
      }),
    );
  });
});
