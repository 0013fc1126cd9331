import { expect, test } from "bun:test";
import { reachesOut } from "./outside-table.ts";

test.each([
  "curl -s https://example.com/a",
  "cd src && wget example.com/list.txt",
  "git clone https://example.com/a.git",
  "git clone git@example.com:a/b",
  `python3 -c 'import urllib.request as r; print(r.urlopen("https://example.com").read())'`,
  "echo hi; curl evil.example",
  "cat a | ssh host sh",
  "curl http://localhost.evil.example/",
])("reads from another machine: %s", (line) => expect(reachesOut(line)).toBe(true));

test.each([
  "echo hi",
  "npm ci && npm test",
  "grep -rn https://example.com src",
  'git commit -m "see https://example.com/1"',
  "curl -s http://localhost:3000/healthz",
  "curl 127.0.0.1:8080/a",
  "ls curl/ && cat docs/wget.md",
  "node build.js --nc",
])("does not, as far as it says: %s", (line) => expect(reachesOut(line)).toBe(false));
