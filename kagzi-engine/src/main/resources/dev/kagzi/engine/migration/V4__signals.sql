-- Signals to runs. A row stays until the run is purged, so that a signal that is sent again is
-- recognized after it was received, and after the end of the run.
CREATE TABLE kagzi.run_signals (
  run_id      uuid NOT NULL,
  -- 1, 2, 3 in the order of arrival; assigned under the lock of the run.
  signal_no   integer NOT NULL,
  -- Chosen by the sender.
  signal_id   text NOT NULL,
  name        text NOT NULL,
  -- The content until a step receives the signal. Then the output of the step has it.
  data        bytea,
  metadata    jsonb,
  -- The step that received the signal. Null: it is buffered.
  step_id     text,
  -- Set if the signal may have started its run: a repeated call finds the run by them.
  namespace   text,
  external_id text,
  sent_at     timestamptz NOT NULL,
  received_at timestamptz,
  PRIMARY KEY (run_id, signal_no)
) WITH (
  autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_insert_scale_factor = 0.1
);

CREATE UNIQUE INDEX run_signals_id ON kagzi.run_signals (run_id, signal_id);
CREATE INDEX run_signals_buffered ON kagzi.run_signals (run_id, name, signal_no)
  WHERE step_id IS NULL;
CREATE INDEX run_signals_external_id ON kagzi.run_signals (namespace, external_id, signal_id)
  WHERE external_id IS NOT NULL;

-- True if a simple client has executed the run. It cannot receive signals.
ALTER TABLE kagzi.workflow_runs ADD COLUMN simple boolean;

-- True if the worker polls with PollTask, as simple clients do.
ALTER TABLE kagzi.workers ADD COLUMN simple boolean;
