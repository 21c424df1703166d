-- Children, progress of steps, default versions. All columns are null where nobody asks for it.

ALTER TABLE kagzi.workflow_runs
  -- It has a parent and goes its own way: its end is told to nobody, and a cancel leaves it alone.
  ADD COLUMN detached boolean;

ALTER TABLE kagzi.step_runs
  -- How far an attempt had come, as its code said: the next one may go on from there.
  ADD COLUMN progress          bytea,
  ADD COLUMN progress_metadata jsonb;

-- The version of runs that are started without one. A type without a row: the empty version.
CREATE TABLE kagzi.workflow_types (
  namespace       text NOT NULL,
  workflow_type   text NOT NULL,
  default_version text NOT NULL,
  updated_at      timestamptz NOT NULL,
  PRIMARY KEY (namespace, workflow_type)
);

-- Whether a step that began after another had failed shows that the code went on after that failure:
-- unless the two stand in different branches of one group, which know nothing of each other. The
-- parts of a key before the last are branches, such as pack[0].
CREATE FUNCTION kagzi.went_on(failed text, later text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(
    (SELECT NOT (p.i < array_length(string_to_array(failed, '/'), 1)
                 AND p.i < array_length(string_to_array(later, '/'), 1)
                 AND split_part(p.f, '[', 1) = split_part(p.l, '[', 1))
       FROM unnest(string_to_array(failed, '/'), string_to_array(later, '/'))
              WITH ORDINALITY AS p (f, l, i)
      WHERE p.f IS DISTINCT FROM p.l
      ORDER BY p.i
      LIMIT 1), true)
$$;
