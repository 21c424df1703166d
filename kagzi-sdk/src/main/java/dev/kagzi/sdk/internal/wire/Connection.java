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
import io.grpc.ClientCall;
import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Iterator;
import java.util.Map;
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
  private static final long CALL_DEADLINE_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final long CONNECT_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final Duration FOR_EVER = Duration.ofDays(36_500);
  private static final long STREAM_DEADLINE_MS = 60_000;

  private final ManagedChannel channel;
  private final Channel calls;
  private final String addresses;
  private final String namespace;
  private final Duration callTimeout;
  private final WorkflowServiceStub workflows;
  private final WorkerServiceStub workers;
  private final ScheduledThreadPoolExecutor timers;

  /** With calls made as the channel makes them. */
  public Connection(
      ManagedChannel channel, String addresses, String namespace, Duration callTimeout) {
    this(channel, channel, addresses, namespace, callTimeout);
  }

  /**
   * @param channel is closed with the connection
   * @param calls how calls are made over the channel
   * @param addresses of the servers, as people read them
   * @param callTimeout how long a client's call takes at most, with all its tries
   */
  public Connection(
      ManagedChannel channel,
      Channel calls,
      String addresses,
      String namespace,
      Duration callTimeout) {
    this.channel = channel;
    this.calls = calls;
    this.addresses = addresses;
    this.namespace = namespace;
    this.callTimeout = callTimeout;
    this.timers = new ScheduledThreadPoolExecutor(1, Connection::timerThread);
    this.timers.setRemoveOnCancelPolicy(true);
    this.timers.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    this.timers.setContinueExistingPeriodicTasksAfterShutdownPolicy(false);
    this.workflows = WorkflowServiceGrpc.newStub(calls);
    this.workers = WorkerServiceGrpc.newStub(calls);
    new ReconnectTimer(channel, this::after, addresses).watch();
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

  public Duration callTimeout() {
    return callTimeout;
  }

  public WorkflowServiceStub workflows() {
    return workflows;
  }

  /** With a deadline: a call fails with DEADLINE_EXCEEDED if no answer arrives within that time. */
  public WorkflowServiceStub workflows(long answerMs) {
    return workflows.withDeadlineAfter(answerMs, TimeUnit.MILLISECONDS);
  }

  public WorkerServiceStub workers() {
    return workers;
  }

  /** The same for a worker's calls. */
  public WorkerServiceStub workers(long answerMs) {
    return workers.withDeadlineAfter(answerMs, TimeUnit.MILLISECONDS);
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
   * Returns the exception for a call that no server answered in time.
   *
   * @param cause the error of the last try, if one has ended
   */
  public ServerUnavailableException noAnswer(
      String what, Duration within, @Nullable Throwable cause) {
    return new ServerUnavailableException(
        "%s: no answer within %s ms (expected: a server that answers; is it stopped, or does a proxy"
                .formatted(at(what), within.toMillis())
            + " or firewall swallow what is sent?)",
        cause);
  }

  /**
   * A call that blocks its thread and is tried again while no server answers, for as long as a
   * client's call may take. All tries have the same request id, so that a try whose answer was lost
   * takes effect once.
   */
  public <Q, A> A call(MethodDescriptor<Q, A> method, Q request) {
    return call(method, request, callTimeout);
  }

  /** The same for as long as it takes, unless the connection is closed meanwhile. */
  public <Q, A> A callUntilAnswered(MethodDescriptor<Q, A> method, Q request) {
    return call(method, request, FOR_EVER);
  }

  private <Q, A> A call(MethodDescriptor<Q, A> method, Q unsent, Duration timeout) {
    Q request = RequestIds.withId(unsent);
    long endNanos = System.nanoTime() + timeout.toNanos();
    Backoff backoff = new Backoff(50, 2_000);
    KagziException reason = null;
    while (true) {
      long leftNanos = endNanos - System.nanoTime();
      try {
        return ClientCalls.blockingUnaryCall(
            calls,
            method,
            CallOptions.DEFAULT.withDeadlineAfter(
                Math.min(leftNanos, CALL_DEADLINE_NANOS), TimeUnit.NANOSECONDS),
            request);
      } catch (StatusRuntimeException e) {
        reason = reason(String.valueOf(method.getBareMethodName()), timeout, reason, e);
      }
      leftNanos = endNanos - System.nanoTime();
      if (Thread.currentThread().isInterrupted()
          || !(reason instanceof ServerUnavailableException)
          || timers.isShutdown()
          || leftNanos <= 0) {
        throw reason;
      }
      LockSupport.parkNanos(Math.min(leftNanos, TimeUnit.MILLISECONDS.toNanos(backoff.nextMs())));
    }
  }

  // A try that ran out of time says less than what was seen before it.
  private KagziException reason(
      String method,
      Duration timeout,
      @Nullable KagziException before,
      StatusRuntimeException error) {
    if (!RpcErrors.isNoAnswer(error)) {
      return RpcErrors.toException(at(method), error);
    }
    return before != null ? before : noAnswer(method, timeout, error);
  }

  /**
   * One round trip, for the caller who wants to know whether there is a server now.
   *
   * @return the answer, and the address that gave it if that is known
   */
  public <Q, A> Map.Entry<A, String> ask(
      MethodDescriptor<Q, A> method, Q request, Duration within) {
    long endNanos = System.nanoTime() + within.toNanos();
    try {
      return askOnce(method, request, CallOptions.DEFAULT, within.toNanos());
    } catch (StatusRuntimeException first) {
      String what = String.valueOf(method.getBareMethodName());
      KagziException reason = reason(what, within, null, first);
      long leftNanos = Math.min(endNanos - System.nanoTime(), CONNECT_NANOS);
      if (!(reason instanceof ServerUnavailableException) || leftNanos <= 0) {
        throw reason;
      }
      // The channel may not have noticed yet that its server is back.
      channel.resetConnectBackoff();
      try {
        return askOnce(method, request, CallOptions.DEFAULT.withWaitForReady(), leftNanos);
      } catch (StatusRuntimeException second) {
        throw reason(what, within, reason, second);
      }
    }
  }

  private <Q, A> Map.Entry<A, String> askOnce(
      MethodDescriptor<Q, A> method, Q request, CallOptions options, long nanos) {
    ClientCall<Q, A> call =
        calls.newCall(method, options.withDeadlineAfter(nanos, TimeUnit.NANOSECONDS));
    A answer = ClientCalls.blockingUnaryCall(call, request);
    SocketAddress remote = call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR);
    return Map.entry(answer, remote == null ? addresses : text(remote));
  }

  private static String text(SocketAddress address) {
    return address instanceof InetSocketAddress inet
        ? inet.getHostString() + ":" + inet.getPort()
        : address.toString();
  }

  /** The recorded steps of a claimed run, read by the calling thread as they arrive. */
  public Iterator<GetHistoryResponse> history(GetHistoryRequest request) {
    return ClientCalls.blockingServerStreamingCall(
        calls,
        WorkerServiceGrpc.getGetHistoryMethod(),
        CallOptions.DEFAULT.withDeadlineAfter(STREAM_DEADLINE_MS, TimeUnit.MILLISECONDS),
        request);
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
