-- The generation of the data. A new one begins when PostgreSQL has begun a new timeline, or a dump was
-- restored. A promoted standby and a restored backup may lack the last commits that a server has acted
-- on. One row.
CREATE TABLE kagzi.database_generation (
  one        boolean PRIMARY KEY DEFAULT true CHECK (one),
  generation integer NOT NULL,
  -- What the generation belongs to: the system identifier, the timeline, and the object id of this
  -- table. Null until the first server has read them.
  identity   text,
  -- A random value for each generation, the last one for the present generation. Two databases that
  -- descend from one may have begun generations with the same number.
  lineage    text[] NOT NULL DEFAULT '{}'
);

INSERT INTO kagzi.database_generation (generation) VALUES (0);
