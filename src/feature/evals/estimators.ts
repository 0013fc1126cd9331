/**
 * Unbiased estimates for k attempts, from n attempts of which c passed.
 * pass@k: Chen et al. 2021, "Evaluating Large Language Models Trained on Code", https://arxiv.org/abs/2107.03374,
 * section 2.1.
 * pass^k: Yao et al. 2024, "τ-bench", https://arxiv.org/abs/2406.12045, section 3.
 */

/** The chance that at least one of k attempts passes: 1 − C(n−c, k) / C(n, k). @param n at least k. */
export const passAtK = (n: number, c: number, k: number): number => 1 - chosenFrom(n - c, n, k);

/** The chance that all of k attempts pass: C(c, k) / C(n, k). @param n at least k. */
export const passAllK = (n: number, c: number, k: number): number => chosenFrom(c, n, k);

/** C(some, k) / C(all, k), computed as a product, because the binomials can be too large for a number. */
function chosenFrom(some: number, all: number, k: number): number {
  if (some < k) return 0;
  let share = 1;
  for (let at = 0; at < k; at++) share *= (some - at) / (all - at);
  return share;
}
