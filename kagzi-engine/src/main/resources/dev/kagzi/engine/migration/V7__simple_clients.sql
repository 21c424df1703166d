-- Workers that name no claim in their calls. The column is null until a claim sets it; an older
-- server leaves it as it is.

ALTER TABLE kagzi.workflow_runs
  -- The epoch before the first claim since the run was last free (PENDING or SLEEPING). The present
  -- claim is the only one since then if it is the next epoch.
  ADD COLUMN free_epoch integer;
