-- How many runs of each type and queue started and ended in each minute. The chore that folds run_changes adds to
-- it, so a change is counted some seconds late. Rows are deleted after some hours.
CREATE TABLE kagzi.run_rates (
  namespace     text NOT NULL,
  minute        timestamptz NOT NULL,
  workflow_type text NOT NULL,
  task_queue    text NOT NULL,
  started       bigint NOT NULL,
  completed     bigint NOT NULL,
  failed        bigint NOT NULL,  -- or timed out
  cancelled     bigint NOT NULL,
  PRIMARY KEY (namespace, minute, workflow_type, task_queue)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 500);
