import { describe, expect, test } from "bun:test";
import { plainHost } from "../core/plain-host.ts";
import { createAddressGuard, type LookUp } from "./address-guard.ts";

const PUBLIC = "93.184.215.14";
const answering =
  (...addresses: string[]): LookUp =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "allowed",
    (error: { code?: string }) => error.code,
  );

describe("address guard", () => {
  test.each([
    "127.0.0.1",
    "127.9.9.9",
    "0.0.0.0",
    "0",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "127.1",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "169.254.169.254",
    "224.0.0.1",
    "255.255.255.255",
    "198.18.0.1",
    "::1",
    "[::1]",
    "::",
    "::ffff:7f00:1",
    "::ffff:127.0.0.1",
    "::7f00:1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "fe80::1",
    "fc00::1",
    "fd00:ec2::254",
    "localhost",
    "LOCALHOST.",
    "x.localhost",
    "metadata.google.internal",
    "printer.local",
    "intranet",
  ])("refuses %s without asking a name server", async (host) => {
    let asked = 0;
    const guard = createAddressGuard([], async () => {
      asked++;
      return [{ address: PUBLIC, family: 4 }];
    });
    expect(await codeOf(guard.resolve(host))).toBe("address_refused");
    expect(asked).toBe(0);
  });

  test("a name with one private address among public ones is refused", async () => {
    const guard = createAddressGuard([], answering(PUBLIC, "10.0.0.7"));
    expect(await codeOf(guard.resolve("rebind.example"))).toBe("address_refused");
    expect(await codeOf(createAddressGuard([], answering("::ffff:10.0.0.7")).resolve("mapped.example"))).toBe(
      "address_refused",
    );
  });

  test("a public name gives the addresses that were checked, and asks once", async () => {
    let asked = 0;
    const guard = createAddressGuard([], async () => [{ address: asked++ ? "127.0.0.1" : PUBLIC, family: 4 }]);
    expect(await guard.resolve("Example.COM.")).toEqual([{ address: PUBLIC, family: 4 }]);
    expect(asked).toBe(1);
  });

  test("what the operator lists is let through, by name, address and network, and nothing beside it", async () => {
    const guard = createAddressGuard(["git.lan", "192.168.7.0/24", "::1", "10.1.2.3"], answering("192.168.9.9"));
    expect(await codeOf(guard.resolve("git.lan"))).toBe("allowed");
    expect(await codeOf(guard.resolve("192.168.7.20"))).toBe("allowed");
    expect(await codeOf(guard.resolve("[::1]"))).toBe("allowed");
    expect(await codeOf(guard.resolve("0xa010203"))).toBe("allowed");
    expect(await codeOf(guard.resolve("192.168.8.20"))).toBe("address_refused");
    expect(await codeOf(guard.resolve("other.lan"))).toBe("address_refused");
    expect(await codeOf(guard.resolve("other.example"))).toBe("address_refused");
    expect([guard.isListed("git.lan"), guard.isListed("192.168.7.1"), guard.isListed(PUBLIC)]).toEqual([
      true,
      true,
      false,
    ]);
  });

  test("a name without address is named as such, a malformed host is refused", async () => {
    expect(await codeOf(createAddressGuard([], answering()).resolve("nowhere.example"))).toBe("host_unknown");
    for (const host of ["", "a b", "a/b", "a@b", "a%2eb", "-[", "a\\b"]) expect(() => plainHost(host)).toThrow();
  });
});
