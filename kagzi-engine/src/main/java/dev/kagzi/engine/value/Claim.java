package dev.kagzi.engine.value;

/**
 * The right to execute a run until its lease ends. The epoch rises with every claim of the run, so
 * that whoever held an earlier one can be told apart: it is the fence.
 */
public record Claim(RunId runId, int epoch) {
  /** The epoch of a client that does not say which claim it holds: the present one is meant. */
  public static final int ANY = 0;
}
