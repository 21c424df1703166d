-- COMPLETED or FAILED: the signal is the answer of a callback. It keeps its content, because any
-- number of steps may receive it; its step_id and received_at stay null. Null: any other signal.
ALTER TABLE kagzi.run_signals ADD COLUMN answer text;
