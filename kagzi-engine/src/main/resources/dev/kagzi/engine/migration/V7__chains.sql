-- Chains of runs: a run continues as a new one (continue-as-new). All columns are null for runs that do not.
ALTER TABLE kagzi.workflow_runs
  -- The run that this run has continued as, which started in the transaction of this one's end.
  ADD COLUMN continued_to   uuid,
  -- The run that has continued as this one.
  ADD COLUMN continued_from uuid,
  -- The first run of the chain. Null for the first run itself.
  ADD COLUMN first_run_id   uuid,
  -- The deadline of the start, which holds for all runs of the chain. deadline_at is earlier if the
  -- execution timeout is. Null also for a run that an older server has started.
  ADD COLUMN chain_deadline timestamptz,
  -- Time from the start to that deadline, for a retry or a resume. Null also if it had passed.
  ADD COLUMN chain_deadline_after_ms bigint;

-- One entry per chain: its last run.
CREATE INDEX workflow_runs_chain ON kagzi.workflow_runs (first_run_id)
  WHERE first_run_id IS NOT NULL AND continued_to IS NULL;

-- The first run of the chain, of signals to later runs: a signal that is sent again is recognized in
-- all runs of the chain. Null for signals to the first run that have not moved to another.
ALTER TABLE kagzi.run_signals ADD COLUMN chain_id uuid;

CREATE UNIQUE INDEX run_signals_chain ON kagzi.run_signals (chain_id, signal_id)
  WHERE chain_id IS NOT NULL;
