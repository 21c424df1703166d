-- Workers that name no claim in their calls. The columns are null until somebody sets them; an older
-- server leaves them as they are.

ALTER TABLE kagzi.workflow_runs
  -- The epoch before the first claim since the run was last free (PENDING or SLEEPING). The present
  -- claim is the only one since then if it is the next epoch.
  ADD COLUMN free_epoch  integer,
  -- The last claim whose worker has called about the run: its task has arrived.
  ADD COLUMN heard_epoch integer;

-- The name of a step, where its key would be read as another one: a simple client's step may be called
-- "pay#2" or "a[0]/b", which elsewhere are the second step "pay" and the step "b" of a branch.
ALTER TABLE kagzi.step_runs ADD COLUMN name text;

-- True when the worker sends its active_count. For the others the runs that they hold are counted.
ALTER TABLE kagzi.workers ADD COLUMN sends_count boolean;
