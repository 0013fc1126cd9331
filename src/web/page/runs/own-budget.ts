/** The budget that a run was given itself, to propose it for another run. */

/**
 * @param budget what the run may cost, USD: its own, or what it took from its pipeline.
 * @param preset what runs of the pipeline may cost where nothing else is said.
 * @param admin whether the asker may give more than the pipeline does, as the API decides.
 * @returns null where the pipeline decides.
 */
export function ownBudget(
  budget: number | null | undefined,
  preset: number | null | undefined,
  admin: boolean,
): number | null {
  if (budget == null || budget === preset) return null;
  return !admin && preset != null && budget > preset ? null : budget;
}
