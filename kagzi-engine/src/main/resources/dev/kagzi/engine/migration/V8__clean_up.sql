-- Cancel with clean-up. A cancel of a run whose worker declared a time for it does not end the run: it
-- is requested, and deadline_at becomes the end of that time, unless it is earlier.
ALTER TABLE kagzi.workflow_runs
  -- How long the code may clean up, as the worker of the last claim declared it. Null: a cancel ends
  -- the run at once.
  ADD COLUMN clean_up_ms bigint,
  -- Set while the run cleans up, and kept after its end.
  ADD COLUMN cancel_requested_at timestamptz,
  -- The epoch of the run when the cancel was requested. A claim with a higher epoch has the request in
  -- its task; a claim with this epoch may not know it.
  ADD COLUMN cancel_epoch integer;
