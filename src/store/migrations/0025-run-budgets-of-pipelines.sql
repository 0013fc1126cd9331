-- The column now holds what a run may cost, also where its pipeline says it.
UPDATE runs SET budget_usd = json_extract(definition, '$.defaults.budget_usd') WHERE budget_usd IS NULL;
