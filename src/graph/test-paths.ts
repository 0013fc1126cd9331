/**
 * Whether a path is of tests, examples or the like: product code does not call into it. What lies in `docs/` may be a
 * product's own code, and counts as such.
 */
export function isTestPath(path: string): boolean {
  return TEST_PATH.test(path);
}

const TEST_PATH =
  /(^|\/)(tests?|__tests__|specs?|examples?|fixtures?|benchmarks?|samples?)\/|[._-](test|spec)\.\w+$|(^|\/)test_[^/]*$|_test\.\w+$/i;
