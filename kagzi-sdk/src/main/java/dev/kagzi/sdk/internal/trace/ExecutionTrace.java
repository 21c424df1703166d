package dev.kagzi.sdk.internal.trace;

import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.sdk.StepContext;
import org.jspecify.annotations.Nullable;

/**
 * The trace of one execution of a run. {@link #begin} is called before the first branch, step,
 * sleep, receive or child. Errors are the sanitized ones that are recorded, because a trace must
 * not show what the sanitizer removes. Thread-safe.
 */
public interface ExecutionTrace {
  ExecutionTrace OFF = new NoTracing();

  /** Returns the id of the run's trace, for the log; empty if the run is not traced. */
  String traceId();

  /**
   * The execution has a slot and begins to execute code. Makes its context current in the calling
   * thread, until the scope is closed.
   */
  TraceScope begin();

  /** Makes the execution's context current in the thread of a branch. */
  TraceScope enter();

  /** Begins an attempt of a step and makes its context current in the calling thread. */
  StepTrace step(StepContext step);

  /** Begins a sleep; the span ends when the scope is closed. */
  TraceScope sleep(String name, String key);

  /** Begins to receive a signal; the span ends when the scope is closed. */
  TraceScope receive(String name, String key);

  /** Traces the start of a child and adds its trace context to the headers of the start. */
  void child(String key, StartWorkflowRequest.Builder start);

  /**
   * The execution has ended: its code has returned and its last report is answered.
   *
   * @param outcome for example {@code completed} or {@code suspended}
   * @param error why the execution has failed or cannot continue; null if it did not fail
   */
  void end(String outcome, @Nullable ErrorDetail error);

  /** One attempt of a step. */
  interface StepTrace {
    StepTrace OFF = new NoTracing();

    /** The step's code has returned: its context is no longer current in the calling thread. */
    void leave();

    /** Ends the attempt; without an error it has completed. */
    void end(@Nullable ErrorDetail error);

    /** Ends the attempt of a run or branch that was stopped: its result does not count. */
    void stopped();
  }
}
