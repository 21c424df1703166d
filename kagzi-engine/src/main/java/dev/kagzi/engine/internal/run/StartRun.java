package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.run.StartResult;
import dev.kagzi.engine.value.Limits;
import dev.kagzi.engine.value.Origin;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.TypeVersion;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

public final class StartRun extends RunWrite<StartResult> {
  private final StartRequest request;
  private final Lineage lineage;
  private final @Nullable SlotReservation reservation;
  private final @Nullable Refusal refusal;

  /**
   * The origin of a run and its links to other runs.
   *
   * @param retryOf the run that this run retries
   * @param failedRun the run whose failure this run handles
   * @param detached the parent is not notified of the end, and a cancel of the parent does not
   *     reach the run
   */
  public record Lineage(
      Origin origin,
      @Nullable RunId parent,
      @Nullable String parentStep,
      @Nullable RunId retryOf,
      @Nullable RunId failedRun,
      boolean detached) {
    public static final Lineage CLIENT = new Lineage(Origin.CLIENT, null, null, null, null, false);

    public Lineage(Origin origin, @Nullable RunId parent, @Nullable String parentStep) {
      this(origin, parent, parentStep, null, null, false);
    }

    /** A run that a step of another run starts and does not await. */
    public static Lineage detachedFrom(RunId parent, String parentStep) {
      return new Lineage(Origin.CHILD, parent, parentStep, null, null, true);
    }

    /** A retry of a run. The retry of a failure handler handles the same failed run. */
    public static Lineage retryOf(RunId run, @Nullable RunId failedRun) {
      return new Lineage(Origin.RETRY, null, null, run, failedRun, false);
    }

    public static Lineage handlerOf(RunId failedRun) {
      return new Lineage(Origin.FAILURE_HANDLER, null, null, null, failedRun, false);
    }
  }

  /** {@code runId} is the id chosen by the caller, or a new one. */
  public StartRun(
      RunId runId, StartRequest request, Lineage lineage, @Nullable SlotReservation reservation) {
    this(runId, request, lineage, reservation, null);
  }

  private StartRun(
      RunId runId,
      StartRequest request,
      Lineage lineage,
      @Nullable SlotReservation reservation,
      @Nullable Refusal refusal) {
    super(runId, bytes(request));
    this.request = request;
    this.lineage = lineage;
    this.reservation = reservation;
    this.refusal = refusal;
  }

  private static int bytes(StartRequest request) {
    return request.input().bytes()
        + request.externalId().length()
        + Limits.bytes(request.options().headers());
  }

  /** Inserts nothing: answers with the run of an equal earlier start, or refuses. */
  public static StartRun repeated(RunId runId, StartRequest request, Refusal refusal) {
    return new StartRun(runId, request, Lineage.CLIENT, null, refusal);
  }

  public StartRequest request() {
    return request;
  }

  public Lineage lineage() {
    return lineage;
  }

  public @Nullable SlotReservation reservation() {
    return reservation;
  }

  /** Why no new run may be inserted; null if one may. */
  public @Nullable Refusal refusal() {
    return refusal;
  }

  /** True if the run needs only the columns of {@link InsertRuns#SQL}. */
  public boolean isPlain() {
    return request.options().isPlain()
        && lineage.retryOf() == null
        && lineage.failedRun() == null
        && !lineage.detached();
  }

  /** Milliseconds from the creation to the deadline of the run; null: no deadline. */
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
