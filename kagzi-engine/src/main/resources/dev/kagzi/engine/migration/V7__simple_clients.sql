-- Workers that name no claim in their calls. The columns are null until somebody sets them; an older
-- server leaves them as they are.

ALTER TABLE kagzi.workflow_runs
  -- The epoch before the first claim since the run was last free (PENDING or SLEEPING). The present
  -- claim is the only one since then if it is the next epoch.
  ADD COLUMN free_epoch  integer,
  -- The last claim whose worker has called about the run: its task has arrived.
  ADD COLUMN heard_epoch integer;
