-- The generation of the data: how many times PostgreSQL has begun a new timeline since this table was
-- created, or a dump was restored. A promoted standby and a restored backup may lack the last commits
-- that a server has acted on. One row.
CREATE TABLE kagzi.database_generation (
  one        boolean PRIMARY KEY DEFAULT true CHECK (one),
  generation integer NOT NULL,
  -- What the generation belongs to: the system identifier, the timeline, and the object id of this
  -- table. Null until the first server has read them.
  identity   text
);

INSERT INTO kagzi.database_generation (generation) VALUES (0);
