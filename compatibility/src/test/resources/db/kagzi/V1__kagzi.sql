-- kagzi sql steps --dialect h2; kagzi sql outbox --dialect h2
CREATE TABLE IF NOT EXISTS kagzi_steps (
  namespace  varchar(200) NOT NULL,
  run_id     uuid         NOT NULL,
  step_key   varchar(500) NOT NULL,
  epoch      integer      NOT NULL,
  output     blob,
  created_at timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
  PRIMARY KEY (run_id, step_key)
);
CREATE TABLE IF NOT EXISTS kagzi_outbox (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  namespace  varchar(200) NOT NULL,
  order_key  varchar(500) NOT NULL,
  run_id     uuid         NOT NULL,
  kind       varchar(20)  NOT NULL,
  message    blob         NOT NULL,
  created_at timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
  refused_at timestamp with time zone,
  refusal    varchar(2000)
);
CREATE INDEX IF NOT EXISTS kagzi_outbox_order ON kagzi_outbox (namespace, order_key, id);
