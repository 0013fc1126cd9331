/**
 * Whether a path holds tests, examples, fixtures or benchmarks, which product code does not call. `docs/` may hold a
 * product's own code and counts as product.
 */
export function isTestPath(path: string): boolean {
  return TEST_PATH.test(path) || CAPITAL_TEST.test(path);
}

/**
 * Whether a path holds tests or their helpers. Files of examples and fixtures count only if they are tests of their
 * own.
 */
export const holdsTests = (path: string): boolean => isTestPath(path.split(NO_TESTS).at(-1) ?? "");

const NO_TESTS = /(?:^|\/)(?:examples?|samples?|benchmarks?|fixtures?)\//i;

const TEST_PATH =
  /(^|\/)(tests?|__tests__|e2e|specs?|examples?|fixtures?|benchmarks?|samples?)\/|[._-]tests?\/|[._-](test|spec)\.\w+$|(^|\/)test_[^/]*$|_test\.\w+$/i;
/** Matches `UnitTests/`, `androidTest/`, `ParserTest.java` and `ParserTests.cs`. */
const CAPITAL_TEST = /[a-z0-9]Tests?(\/|\.(java|kt|cs|swift|php|scala)$)/;
