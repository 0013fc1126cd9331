/**
 * Certificates for the hosts of one sandbox whose requests get a credential added. An authority lives in memory as long
 * as its sandbox, and issues one certificate per host. X.509 in DER (RFC 5280), keys on P-256.
 */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { isIP } from "node:net";
import { DAY_MS } from "../../core/clock.ts";

export interface HostCertificate {
  key: string;
  cert: string;
}

const [BOOLEAN, INTEGER, BITS, OCTETS, OID, UTF8, TIME, SEQUENCE, SET] = [1, 2, 3, 4, 6, 12, 24, 48, 49];
const LIFETIME_MS = 30 * DAY_MS;
/** Certificates are valid from this much earlier. A container uses the host's clock, which may have been set back. */
const EARLY_MS = DAY_MS;

const OIDS = {
  ecdsaWithSha256: "2a8648ce3d040302",
  commonName: "550403",
  subjectKey: "551d0e",
  keyUsage: "551d0f",
  altName: "551d11",
  basicConstraints: "551d13",
  authorityKey: "551d23",
  extendedKeyUsage: "551d25",
  serverAuth: "2b06010505070301",
} as const;

/** @param now Unix milliseconds. */
export function createAuthority(now: number) {
  const own = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = `Skep sandbox ${randomBytes(6).toString("hex")}`;
  const issuer = { name, key: own.privateKey, publicKey: own.publicKey, now };
  const pem = createCertificate(issuer, name, own.publicKey, [
    encodeExtension("basicConstraints", encodeDer(SEQUENCE, encodeDer(BOOLEAN, [0xff])), true),
    encodeExtension("keyUsage", encodeDer(BITS, [1, 0x06]), true),
  ]);
  const issued = new Map<string, HostCertificate>();
  return {
    /** Certificate of the authority in PEM; programs in the sandbox are to trust it. */
    pem,
    /** Issues a certificate; a host always gets the same one. */
    issue(host: string): HostCertificate {
      const known = issued.get(host);
      if (known) return known;
      const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const cert = createCertificate(issuer, "sandbox", publicKey, [
        encodeExtension("basicConstraints", encodeDer(SEQUENCE), true),
        encodeExtension("keyUsage", encodeDer(BITS, [7, 0x80]), true),
        encodeExtension("extendedKeyUsage", encodeDer(SEQUENCE, encodeOid("serverAuth")), false),
        encodeExtension("altName", encodeDer(SEQUENCE, altName(host)), false),
      ]);
      const made = { cert, key: privateKey.export({ type: "pkcs8", format: "pem" }).toString() };
      issued.set(host, made);
      return made;
    },
  };
}

interface Issuer {
  name: string;
  key: KeyObject;
  publicKey: KeyObject;
  now: number;
}

function createCertificate(issuer: Issuer, subject: string, publicKey: KeyObject, extensions: Uint8Array[]): string {
  const algorithm = encodeDer(SEQUENCE, encodeOid("ecdsaWithSha256"));
  const content = encodeDer(
    SEQUENCE,
    encodeDer(0xa0, encodeDer(INTEGER, [2])),
    // A serial number, positive and never zero.
    encodeDer(INTEGER, [0x40, ...randomBytes(15)]),
    algorithm,
    nameOf(issuer.name),
    encodeDer(SEQUENCE, timeOf(issuer.now - EARLY_MS), timeOf(issuer.now + LIFETIME_MS)),
    nameOf(subject),
    spkiOf(publicKey),
    encodeDer(
      0xa3,
      encodeDer(
        SEQUENCE,
        ...extensions,
        encodeExtension("subjectKey", encodeDer(OCTETS, keyId(publicKey)), false),
        encodeExtension("authorityKey", encodeDer(SEQUENCE, encodeDer(0x80, keyId(issuer.publicKey))), false),
      ),
    ),
  );
  const signature = sign("sha256", content, issuer.key);
  const whole = encodeDer(SEQUENCE, content, algorithm, encodeDer(BITS, [0], signature));
  const lines =
    Buffer.from(whole)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}

/** Encodes tag, length and content. */
function encodeDer(tag: number, ...parts: (Uint8Array | readonly number[])[]): Uint8Array {
  const content = Buffer.concat(parts.map((part) => Uint8Array.from(part)));
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Uint8Array.from([tag, ...size]), content]);
}

const encodeOid = (name: keyof typeof OIDS): Uint8Array => encodeDer(OID, Buffer.from(OIDS[name], "hex"));
const encodeExtension = (name: keyof typeof OIDS, value: Uint8Array, isCritical: boolean): Uint8Array =>
  encodeDer(SEQUENCE, encodeOid(name), isCritical ? encodeDer(BOOLEAN, [0xff]) : [], encodeDer(OCTETS, value));
const nameOf = (text: string): Uint8Array =>
  encodeDer(SEQUENCE, encodeDer(SET, encodeDer(SEQUENCE, encodeOid("commonName"), encodeDer(UTF8, Buffer.from(text)))));
/** Dates before 2050 are encoded as UTCTime, with two digits for the year. */
const timeOf = (ms: number): Uint8Array => {
  const text = new Date(ms).toISOString().replace(/[-:T]/g, "").slice(0, 14);
  return text < "2050"
    ? encodeDer(UTC_TIME, Buffer.from(`${text.slice(2)}Z`))
    : encodeDer(TIME, Buffer.from(`${text}Z`));
};
const UTC_TIME = 23;
const spkiOf = (key: KeyObject): Uint8Array => key.export({ type: "spki", format: "der" });
const keyId = (key: KeyObject): Uint8Array => createHash("sha1").update(spkiOf(key)).digest();

function altName(host: string): Uint8Array {
  if (isIP(host) === 0) return encodeDer(0x82, Buffer.from(host, "latin1"));
  return encodeDer(0x87, isIP(host) === 4 ? host.split(".").map(Number) : bytesOfV6(host));
}

/** Bytes of an IPv6 address in its canonical spelling, as `URL` writes it. */
function bytesOfV6(host: string): number[] {
  const [head = "", tail] = host.split("::");
  const parseGroups = (text: string) => (text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16)));
  const [before, after] = [parseGroups(head), parseGroups(tail ?? "")];
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => 0);
  return [...before, ...zeros, ...after].flatMap((group) => [group >> 8, group & 255]);
}
