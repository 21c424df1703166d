package dev.kagzi.sdk;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Callable;

/**
 * What a workflow's code does its work with. It belongs to one execution of one run: use it in the
 * thread that received it, and not inside a step.
 *
 * <p><b>Steps.</b> A step's code is executed until it succeeds or its retry policy gives up, and
 * its result is recorded. A step is known by its name and, when a name is used again, by its
 * occurrence: {@code charge}, {@code charge#2}. Loops may therefore reuse a name. Names have up to
 * 200 characters and none of {@code # / @} or control characters.
 *
 * <p><b>When it is durable.</b> A step's result is recorded before the next step begins. A crash
 * between the end of a step's code and that moment executes the step again: steps are executed at
 * least once, and their result is recorded exactly once.
 *
 * <p><b>Failure.</b> A step that throws, or takes longer than its {@linkplain StepBuilder#timeout
 * time-out}, is tried again by its {@link Retry}. When no attempt is left it throws a {@link
 * StepFailedException}, which the code may catch to go another way.
 *
 * <p><b>Pauses.</b> A long sleep and a long retry delay release the worker: the call does not
 * return but leaves the workflow's code with an {@link Error}, and the code is executed again
 * later. {@code catch (Exception e)} does not see it; code that catches {@link Throwable} must pass
 * it on.
 */
public interface WorkflowContext {

  /** Executes a step, or returns its recorded result, which is null if the code returned null. */
  <T> T step(String name, Class<T> type, Callable<? extends T> code);

  /** Executes a step whose result has type parameters, or returns its recorded result. */
  <T> T step(String name, TypeRef<T> type, Callable<? extends T> code);

  /** Executes a step that returns nothing, unless it is recorded as done. */
  void step(String name, StepAction code);

  /** A step with options of its own. */
  StepBuilder step(String name);

  /**
   * Sleeps durably: the wake time is stored once, by the database's clock, and holds over restarts
   * and deploys. Zero is allowed.
   */
  void sleep(String name, Duration duration);

  /**
   * Sleeps durably, with a text such as {@code "24h"}, {@code "1 day"}, {@code "1h 30m"}, {@code
   * "500 ms"} or {@code "PT15M"}.
   */
  void sleep(String name, String duration);

  /** Sleeps durably until the given instant; one in the past does not wait. */
  void sleepUntil(String name, Instant until);

  /** The run's id. */
  String runId();

  /** The id that its starter gave the run; empty if none. */
  String workflowId();

  /** 1 at first; one more for each failure of the run as a whole. */
  int attempt();

  String namespace();

  String queue();

  /** Name of the workflow's type. */
  String workflowType();

  /** When the run was started. */
  Instant startedAt();

  /**
   * True as long as what the code asks for is answered from the record: what it has said or counted
   * it has said or counted before.
   */
  boolean isReplaying();
}
