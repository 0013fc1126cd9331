/**
 * How long others wait at most while tools, tool servers, requests and features work on input that is meant to be slow,
 * by the processor time of the server's main thread. The cases are those of `src/testing/attacks/stall*.test.ts` with
 * their exact bounds, which the tests multiply by ten. Prints each case, the longest first; fails if one exceeds its
 * bound.
 *   scripts/bench stalls [FILTER]
 */
const FILES = ["stall", "stall-features", "stall-many", "stall-outside"].map(
  (name) => `./src/testing/attacks/${name}.test.ts`,
);
const filter = process.argv[2] ? ["-t", process.argv[2]] : [];
const tests = Bun.spawn([process.execPath, "test", "--timeout", "300000", ...filter, ...FILES], {
  env: { ...process.env, EXACT_BOUNDS: "true" },
  stdout: "pipe",
  stderr: "pipe",
});
const [out, errors, code] = await Promise.all([
  new Response(tests.stdout).text(),
  new Response(tests.stderr).text(),
  tests.exited,
]);
const cases = [...`${out}\n${errors}`.matchAll(/^([\d.]+) ms\t(.*)$/gm)].map(
  ([, ms, name]) => [Number(ms), name] as const,
);
for (const [ms, name] of cases.sort(([one], [other]) => other - one))
  console.log(`${ms.toFixed(1).padStart(7)} ms  ${name?.slice(0, 100)}`);
const failed = errors.split("\n").filter((line) => /^(\(fail\)|error:)/.test(line));
console.log(`${cases.length} cases; ${code === 0 ? "all within 50 ms and the clock's step of 10" : failed.join("\n")}`);
process.exit(code);
