package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.sdk.StepContext;
import dev.kagzi.sdk.internal.log.LogContext;
import dev.kagzi.sdk.internal.log.MdcScope;
import dev.kagzi.sdk.internal.wire.Payloads;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One attempt of a step, bound to the thread that executes it. */
public final class RunStepContext implements StepContext {
  private static final ThreadLocal<@Nullable RunStepContext> CURRENT = new ThreadLocal<>();

  private final RunRef run;
  private final String name;
  private final RunningStep step;
  private final Payloads payloads;
  private final @Nullable Payload earlierProgress;
  private @Nullable MdcScope logged;

  RunStepContext(
      RunRef run,
      String name,
      RunningStep step,
      Payloads payloads,
      @Nullable Payload earlierProgress) {
    this.run = run;
    this.name = name;
    this.step = step;
    this.payloads = payloads;
    this.earlierProgress = earlierProgress;
    if (earlierProgress != null) {
      // Until this attempt sends its own progress, the next attempt also continues from here.
      step.inheritProgress(earlierProgress);
    }
  }

  /** Returns the step that the calling thread executes; null if it executes none. */
  public static @Nullable RunStepContext current() {
    return CURRENT.get();
  }

  void enter() {
    CURRENT.set(this);
    logged = LogContext.enterStep(step.key(), step.attempt());
  }

  void leave() {
    CURRENT.remove();
    if (logged != null) {
      logged.close();
    }
  }

  public RunRef run() {
    return run;
  }

  @Override
  public String runId() {
    return run.runId();
  }

  @Override
  public String workflowType() {
    return run.workflowType();
  }

  @Override
  public Map<String, String> headers() {
    return run.headers();
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String step() {
    return step.key();
  }

  @Override
  public int attempt() {
    return step.attempt();
  }

  @Override
  public String idempotencyKey() {
    return run.runId() + "/" + step.key();
  }

  @Override
  public void heartbeat(@Nullable Object progress) {
    step.progress(payloads.encodeAny(progress));
  }

  @Override
  public <T> Optional<T> lastProgress(Class<T> type) {
    return earlierProgress == null
        ? Optional.empty()
        : Optional.ofNullable(type.cast(payloads.decode(earlierProgress, type)));
  }
}
