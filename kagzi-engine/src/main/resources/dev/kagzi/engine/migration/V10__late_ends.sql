-- A simple client that lost its run may still end it while nobody else has claimed it.

ALTER TABLE kagzi.workflow_runs
  -- The worker whose claim was taken from it, while the run waits for its next claim; else null.
  ADD COLUMN taken_from  uuid,
  -- The epoch of that claim. A run that waits because its lease expired again has a higher one.
  ADD COLUMN taken_epoch integer;
