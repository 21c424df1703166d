package dev.kagzi.engine.run;

import dev.kagzi.engine.value.Origin;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.TypeVersion;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/** The write that brings a run into being. */
public final class StartRun extends RunWrite<StartResult> {
  private final StartRequest request;
  private final Lineage lineage;
  private final @Nullable SlotReservation handover;
  private final @Nullable Refusal refusal;

  /**
   * Where the run comes from, and where it reports its end.
   *
   * @param retryOf the run that it repeats
   * @param failedRun the run whose failure it handles
   * @param detached its end is told to nobody, although it has a parent
   */
  public record Lineage(
      Origin origin,
      @Nullable RunId parent,
      @Nullable String parentStep,
      @Nullable RunId retryOf,
      @Nullable RunId failedRun,
      boolean detached) {
    /** A run that a client started. */
    public static final Lineage CLIENT = new Lineage(Origin.CLIENT, null, null, null, null, false);

    public Lineage(Origin origin, @Nullable RunId parent, @Nullable String parentStep) {
      this(origin, parent, parentStep, null, null, false);
    }

    /** A run that goes its own way, though it was started by a step of another. */
    public static Lineage detachedFrom(RunId parent, String parentStep) {
      return new Lineage(Origin.CHILD, parent, parentStep, null, null, true);
    }

    /** A repetition of a run; one of a handler handles what that did. */
    public static Lineage retryOf(RunId run, @Nullable RunId failedRun) {
      return new Lineage(Origin.RETRY, null, null, run, failedRun, false);
    }

    public static Lineage handlerOf(RunId failedRun) {
      return new Lineage(Origin.FAILURE_HANDLER, null, null, null, failedRun, false);
    }
  }

  /** The request's run id is the caller's, or a new one. */
  public StartRun(
      RunId runId, StartRequest request, Lineage lineage, @Nullable SlotReservation handover) {
    this(runId, request, lineage, handover, null);
  }

  private StartRun(
      RunId runId,
      StartRequest request,
      Lineage lineage,
      @Nullable SlotReservation handover,
      @Nullable Refusal refusal) {
    super(runId, request.input().bytes() + request.externalId().length());
    this.request = request;
    this.lineage = lineage;
    this.handover = handover;
    this.refusal = refusal;
  }

  /** Inserts nothing: returns the run if the same start has made it before, else refuses. */
  static StartRun repeated(RunId runId, StartRequest request, Refusal refusal) {
    return new StartRun(runId, request, Lineage.CLIENT, null, refusal);
  }

  public StartRequest request() {
    return request;
  }

  public Lineage lineage() {
    return lineage;
  }

  public @Nullable SlotReservation handover() {
    return handover;
  }

  /** Why no new run may be inserted; null if one may. */
  public @Nullable Refusal refusal() {
    return refusal;
  }

  /** True when it needs only the columns that every run has. */
  public boolean isPlain() {
    return request.options().isPlain()
        && lineage.retryOf() == null
        && lineage.failedRun() == null
        && !lineage.detached();
  }

  /** After how many milliseconds the run has to be over; null: never. */
  public @Nullable Long expiresMs(Instant createdAt) {
    Long timeoutMs = request.options().executionTimeoutMs();
    Instant deadline = request.options().deadline();
    if (deadline == null) {
      return timeoutMs;
    }
    long untilMs = Math.max(0, createdAt.until(deadline, ChronoUnit.MILLIS));
    return timeoutMs == null ? untilMs : Math.min(timeoutMs, untilMs);
  }

  public QueueName queue() {
    return new QueueName(request.namespace(), request.taskQueue());
  }

  public TypeVersion type() {
    return new TypeVersion(request.workflowType(), request.version());
  }
}
