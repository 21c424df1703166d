package dev.kagzi.sdk;

import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of a step, passed to its code ({@link StepBuilder#execute}) and to interceptors
 * ({@link WorkerInterceptor#step}).
 */
public interface StepContext {
  /** Returns the id of the run. */
  String runId();

  /** Returns the name of the run's workflow type. */
  String workflowType();

  /** Returns the headers of the run's start: {@link WorkflowStarter#header}. */
  Map<String, String> headers();

  /**
   * Returns the step's name in the workflow's code, for example {@code charge}. It is the same in
   * every branch and occurrence, which suits metrics; {@link #step} is unique in the run.
   */
  String name();

  /** Returns the step's key: its name with scope and occurrence, {@code pack[2]/charge#2}. */
  String step();

  /** Returns the number of this attempt, from 1. */
  int attempt();

  /**
   * Returns a key that all attempts of this step share, and no other step or run has. Pass it to
   * external services, so that they recognize repeated calls.
   */
  String idempotencyKey();

  /**
   * Records the step's progress for later attempts ({@link #lastProgress}). It does not extend the
   * step's timeout, and is not needed to keep the attempt. It is stored at intervals, and at the
   * latest when the attempt fails. After a crash the latest progress may be missing.
   *
   * <p>Progress that the server refuses, for example because it is too large, is logged and not
   * stored; the attempt then records no further progress.
   *
   * @throws PayloadException if the progress cannot be encoded
   */
  void heartbeat(@Nullable Object progress);

  /**
   * Returns the progress of an earlier execution of this step ({@link #heartbeat}); empty if none.
   *
   * @throws PayloadException if the progress cannot be decoded as this type; if the code does not
   *     catch it, the step fails without a retry
   */
  <T> Optional<T> lastProgress(Class<T> type);
}
