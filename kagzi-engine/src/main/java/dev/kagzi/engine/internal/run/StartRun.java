package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.run.SignalRequest;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.run.StartResult;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Limits;
import dev.kagzi.engine.value.Origin;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.TypeVersion;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.spi.LoggingEventBuilder;

public final class StartRun extends RunWrite<StartResult> {
  private final StartRequest request;
  private final Lineage lineage;
  private final @Nullable SlotReservation reservation;
  private final @Nullable Refusal refusal;
  private final @Nullable SignalRequest signal;
  private volatile boolean signalStored;
  private volatile int claimEpoch = 1;

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
    this(runId, request, lineage, reservation, null, null);
  }

  /** A start with a signal, which is stored in the same transaction if the run is inserted. */
  public static StartRun withSignal(
      RunId runId,
      StartRequest request,
      Lineage lineage,
      @Nullable SlotReservation reservation,
      SignalRequest signal) {
    return new StartRun(runId, request, lineage, reservation, null, signal);
  }

  private StartRun(
      RunId runId,
      StartRequest request,
      Lineage lineage,
      @Nullable SlotReservation reservation,
      @Nullable Refusal refusal,
      @Nullable SignalRequest signal) {
    super(runId, bytes(request) + (signal == null ? 0 : signal.payload().bytes()));
    this.request = request;
    this.lineage = lineage;
    this.reservation = reservation;
    this.refusal = refusal;
    this.signal = signal;
  }

  private static int bytes(StartRequest request) {
    return request.input().bytes()
        + request.externalId().length()
        + Limits.bytes(request.options().headers());
  }

  @Override
  protected LoggingEventBuilder addSubject(LoggingEventBuilder line) {
    return TraceLog.add(super.addSubject(line), request.options().headers());
  }

  /** Inserts nothing: answers with the run of an equal earlier start, or refuses. */
  public static StartRun repeated(RunId runId, StartRequest request, Refusal refusal) {
    return new StartRun(runId, request, Lineage.CLIENT, null, refusal, null);
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

  /** How long the worker of the reservation may clean up after a cancel; 0: it does not. */
  public long cleanUpMs() {
    return reservation == null ? 0 : reservation.cleanUpMs();
  }

  /** The signal that a new run starts with; null if there is none. */
  public @Nullable SignalRequest signal() {
    return signal;
  }

  /** Whether the transaction that decided this start has stored its signal. */
  public boolean isSignalStored() {
    return signalStored;
  }

  public void signalStored(boolean stored) {
    this.signalStored = stored;
  }

  /** The claim of the worker of the reservation, if this start inserts the run. */
  public Claim claim() {
    return new Claim(runId(), claimEpoch);
  }

  void claimEpoch(int epoch) {
    this.claimEpoch = epoch;
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
        && !lineage.detached()
        && cleanUpMs() == 0;
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
