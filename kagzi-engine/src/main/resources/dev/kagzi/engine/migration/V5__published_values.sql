-- The values that the code of runs has published. They stay until the run is purged.
CREATE TABLE kagzi.published_values (
  run_id       uuid NOT NULL,
  name         text NOT NULL,
  -- The branch or step whose code has published the value, as in step keys; empty outside of them.
  scope        text NOT NULL,
  -- The attempt of the run, and which value of this name and scope it is, counted by the code. A
  -- replay counts the same, so a value that is stored already is recognized.
  run_attempt  integer NOT NULL,
  sequence     bigint NOT NULL,
  -- The epoch of the claim, and behind it (32 bits) the order in its execution: the value of a name
  -- is the one with the highest version.
  version      bigint NOT NULL,
  -- Null if another scope has published a later value of the name.
  data         bytea,
  metadata     jsonb,
  published_at timestamptz NOT NULL,
  PRIMARY KEY (run_id, name, scope)
) WITH (
  fillfactor = 80,
  autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_insert_scale_factor = 0.1
);
