/** Whether a path is of tests, examples or the like: product code does not call into it. */
export function isTestPath(path: string): boolean {
  return TEST_PATH.test(path);
}

const TEST_PATH =
  /(^|\/)(tests?|__tests__|specs?|examples?|fixtures?|benchmarks?|docs?|samples?)\/|[._-](test|spec)\.\w+$|(^|\/)test_[^/]*$|_test\.\w+$/i;
