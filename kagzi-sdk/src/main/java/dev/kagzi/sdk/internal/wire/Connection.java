package dev.kagzi.sdk.internal.wire;

import dev.kagzi.protocol.v1.GetHistoryRequest;
import dev.kagzi.protocol.v1.GetHistoryResponse;
import dev.kagzi.protocol.v1.WorkerServiceGrpc;
import dev.kagzi.protocol.v1.WorkerServiceGrpc.WorkerServiceStub;
import dev.kagzi.protocol.v1.WorkflowServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowServiceGrpc.WorkflowServiceStub;
import dev.kagzi.sdk.KagziException;
import dev.kagzi.sdk.ServerUnavailableException;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.time.Duration;
import java.util.Iterator;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One channel to the server with what every user of it needs. Thread-safe.
 *
 * <p>Timers run on one platform thread of their own, never on virtual threads: busy user code would
 * silence them.
 */
public final class Connection implements AutoCloseable {
  private static final long CALL_DEADLINE_MS = 10_000;
  private static final long STREAM_DEADLINE_MS = 60_000;

  private final ManagedChannel channel;
  private final Channel calls;
  private final String addresses;
  private final String namespace;
  private final Duration patience;
  private final WorkflowServiceStub workflows;
  private final WorkerServiceStub workers;
  private final ScheduledThreadPoolExecutor timers;

  /** With calls made as the channel makes them. */
  public Connection(ManagedChannel channel, String addresses, String namespace, Duration patience) {
    this(channel, channel, addresses, namespace, patience);
  }

  /**
   * @param channel is closed with the connection
   * @param calls how calls are made over the channel
   * @param addresses of the servers, as people read them
   * @param patience how long a client's call is tried again before it fails
   */
  public Connection(
      ManagedChannel channel,
      Channel calls,
      String addresses,
      String namespace,
      Duration patience) {
    this.channel = channel;
    this.calls = calls;
    this.addresses = addresses;
    this.namespace = namespace;
    this.patience = patience;
    this.timers = new ScheduledThreadPoolExecutor(1, Connection::timerThread);
    this.timers.setRemoveOnCancelPolicy(true);
    this.timers.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    this.timers.setContinueExistingPeriodicTasksAfterShutdownPolicy(false);
    Channel watched = ClientInterceptors.intercept(calls, new CallWatch(this::after));
    this.workflows = WorkflowServiceGrpc.newStub(watched);
    this.workers = WorkerServiceGrpc.newStub(watched);
    new Reconnect(channel, this::after, addresses).watch();
  }

  private static Thread timerThread(Runnable task) {
    return Thread.ofPlatform().name("kagzi-timer").daemon().unstarted(task);
  }

  /** What is being done, and with whom: the beginning of every message about a call. */
  public String at(String what) {
    return what + " at " + addresses;
  }

  public String namespace() {
    return namespace;
  }

  public Duration patience() {
    return patience;
  }

  public WorkflowServiceStub workflows() {
    return workflows;
  }

  /** For calls that are frequent: given up when no answer has come within about that time. */
  public WorkflowServiceStub workflows(long answerMs) {
    return workflows.withOption(CallWatch.ANSWER_MS, answerMs);
  }

  public WorkerServiceStub workers() {
    return workers;
  }

  /** The same for a worker's calls. */
  public WorkerServiceStub workers(long answerMs) {
    return workers.withOption(CallWatch.ANSWER_MS, answerMs);
  }

  /** Runs the task after the delay, on the timers' thread; after {@link #close} never. */
  public void after(long delayMs, Runnable task) {
    if (!timers.isShutdown()) {
      timers.schedule(task, delayMs, TimeUnit.MILLISECONDS);
    }
  }

  public ScheduledThreadPoolExecutor timers() {
    return timers;
  }

  /**
   * A call that blocks its thread and is tried again while no server answers. All tries have the
   * same request id, so that a try whose answer was lost takes effect once.
   */
  public <Q, A> A call(MethodDescriptor<Q, A> method, Q unsent) {
    Q request = RequestIds.withId(unsent);
    long giveUpNanos = System.nanoTime() + patience.toNanos();
    Backoff backoff = new Backoff(50, 2_000);
    while (true) {
      try {
        return ClientCalls.blockingUnaryCall(
            calls,
            method,
            CallOptions.DEFAULT.withDeadlineAfter(CALL_DEADLINE_MS, TimeUnit.MILLISECONDS),
            request);
      } catch (StatusRuntimeException e) {
        pauseOrThrow(method.getBareMethodName(), e, backoff, giveUpNanos);
      }
    }
  }

  /** The recorded steps of a claimed run, read by the calling thread as they arrive. */
  public Iterator<GetHistoryResponse> history(GetHistoryRequest request) {
    return ClientCalls.blockingServerStreamingCall(
        calls,
        WorkerServiceGrpc.getGetHistoryMethod(),
        CallOptions.DEFAULT.withDeadlineAfter(STREAM_DEADLINE_MS, TimeUnit.MILLISECONDS),
        request);
  }

  private void pauseOrThrow(
      @Nullable String method, StatusRuntimeException error, Backoff backoff, long giveUpNanos) {
    KagziException seen = RpcErrors.toException(at(String.valueOf(method)), error);
    if (Thread.currentThread().isInterrupted()
        || !(seen instanceof ServerUnavailableException)
        || System.nanoTime() >= giveUpNanos) {
      throw seen;
    }
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(backoff.nextMs()));
  }

  @Override
  public void close() {
    timers.shutdownNow();
    channel.shutdownNow();
    try {
      channel.awaitTermination(5, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
