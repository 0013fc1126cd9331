/** A backup that cannot be read back is not accepted. */
import { afterAll, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { systemClock } from "../core/clock.ts";
import { temporaryFolder } from "../testing/command.ts";
import { writeBackup } from "./backup.ts";
import { openStore } from "./store.ts";
import { verifyBackup } from "./verify-backup.ts";

const folder = temporaryFolder();
afterAll(folder.remove);
const at = (name: string) => join(folder.path, name);

test("a whole one passes; one that is cut, changed, or holds another database does not", async () => {
  const data = at("data");
  mkdirSync(join(data, "agents"), { recursive: true });
  writeFileSync(join(data, "agents", "one.md"), "One");
  openStore({ path: join(data, "skep.db"), clock: systemClock }).close();
  const file = at("whole.tar.gz");
  const { files } = await writeBackup(data, file, { withoutKeys: true });
  const packed = gunzipSync(readFileSync(file));
  // The database as it was packed: it begins with SQLite's magic string and consists of whole pages.
  const begin = packed.indexOf("SQLite format 3");
  const size = packed.readUInt16BE(begin + 16) * packed.readUInt32BE(begin + 28);
  const database = at("copy.db");
  writeFileSync(database, packed.subarray(begin, begin + size));
  const expected = { database, name: "skep.db", files };
  await verifyBackup(file, "backup.json", expected);

  const tryVerify = async (name: string, bytes: Uint8Array, changed = expected) => {
    writeFileSync(at(name), bytes);
    return verifyBackup(at(name), "backup.json", changed).then(
      () => "passed",
      (error: Error) => `${"code" in error ? error.code : ""}: ${error.message}`,
    );
  };
  const whole = readFileSync(file);
  expect(await tryVerify("cut", whole.subarray(0, whole.length - 100))).toStartWith("backup_damaged");
  expect(await tryVerify("more", whole, { ...expected, files: files + 1 })).toContain(`instead of ${files + 1}`);
  const other = Buffer.from(packed);
  other[begin + size - 1] = 1 ^ (other[begin + size - 1] ?? 0);
  expect(await tryVerify("other", gzipSync(other))).toContain("its database is another");
  const broken = at("broken.db");
  copyFileSync(database, broken);
  writeSync(openSync(broken, "r+"), Buffer.alloc(2_048, 7), 0, 2_048, 4_096);
  expect(await tryVerify("broken", whole, { ...expected, database: broken })).toContain("backup_damaged");
});
