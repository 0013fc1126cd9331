/**
 * Whether a path holds tests, examples or the like, which product code does not call. `docs/` may hold a product's
 * own code and counts as product.
 */
export function isTestPath(path: string): boolean {
  return TEST_PATH.test(path);
}

const TEST_PATH =
  /(^|\/)(tests?|__tests__|specs?|examples?|fixtures?|benchmarks?|samples?)\/|[._-](test|spec)\.\w+$|(^|\/)test_[^/]*$|_test\.\w+$/i;
