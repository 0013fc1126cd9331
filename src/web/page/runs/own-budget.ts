/** Finds the budget that a run was given itself, to propose it for another run. */

/**
 * @param budget what the run may cost in USD: its own budget, or that of its pipeline.
 * @param preset the pipeline's budget for a run, if it has one.
 * @param admin whether the user may exceed the pipeline's budget; the API checks it as well.
 * @returns null if the pipeline's budget applies.
 */
export function ownBudget(
  budget: number | null | undefined,
  preset: number | null | undefined,
  admin: boolean,
): number | null {
  if (budget == null || budget === preset) return null;
  return !admin && preset != null && budget > preset ? null : budget;
}
