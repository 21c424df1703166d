package dev.kagzi.sdk.internal.wire;

import dev.kagzi.protocol.v1.GetHistoryRequest;
import dev.kagzi.protocol.v1.GetHistoryResponse;
import dev.kagzi.protocol.v1.WorkerServiceGrpc;
import dev.kagzi.protocol.v1.WorkerServiceGrpc.WorkerServiceStub;
import dev.kagzi.protocol.v1.WorkflowServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowServiceGrpc.WorkflowServiceStub;
import dev.kagzi.sdk.KagziException;
import dev.kagzi.sdk.ServerUnavailableException;
import dev.kagzi.sdk.internal.log.EventLog;
import dev.kagzi.sdk.internal.log.RepeatLimiter;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ClientInterceptors;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One gRPC channel with its stubs, timers and retry rules. Thread-safe.
 *
 * <p>Timers run on their own platform thread and not on virtual threads, because CPU-bound user
 * code could starve those and delay heartbeats.
 */
public final class Connection implements AutoCloseable {
  private static final EventLog log = EventLog.of(Connection.class);
  public static final Duration NO_TIMEOUT = Duration.ofDays(36_500);
  private static final long CALL_DEADLINE_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final long CONNECT_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long STREAM_DEADLINE_MS = 60_000;

  private final ManagedChannel channel;
  private final Channel calls;
  private final Channel background;
  private final String addresses;
  private final String namespace;
  private final Duration callTimeout;
  private final WorkflowServiceStub workflows;
  private final WorkerServiceStub workers;
  private final ScheduledThreadPoolExecutor timers;

  public Connection(
      ManagedChannel channel, String addresses, String namespace, Duration callTimeout) {
    this(channel, channel, addresses, namespace, callTimeout);
  }

  /** The channel is closed with the connection; {@code calls} is that channel with interceptors. */
  public Connection(
      ManagedChannel channel,
      Channel calls,
      String addresses,
      String namespace,
      Duration callTimeout) {
    this.channel = channel;
    this.calls = ClientInterceptors.intercept(calls, InterceptorGuard.OUTER);
    this.addresses = addresses;
    this.namespace = namespace;
    this.callTimeout = callTimeout;
    this.timers = new ScheduledThreadPoolExecutor(1, Connection::timerThread);
    this.timers.setRemoveOnCancelPolicy(true);
    this.timers.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    this.timers.setContinueExistingPeriodicTasksAfterShutdownPolicy(false);
    this.background = ClientInterceptors.intercept(this.calls, new InRootContext());
    this.workflows = WorkflowServiceGrpc.newStub(background);
    this.workers = WorkerServiceGrpc.newStub(background);
    new ReconnectTimer(channel, this::after, addresses).watch();
  }

  private static Thread timerThread(Runnable task) {
    return Thread.ofPlatform().name("kagzi-timer").daemon().unstarted(task);
  }

  /**
   * Makes calls outside of the caller's gRPC context. A call of a worker, or one that callers
   * share, must not be cancelled with the context of the thread that happens to make it.
   */
  private static final class InRootContext implements ClientInterceptor {
    @Override
    public <Q, A> ClientCall<Q, A> interceptCall(
        MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
      Context caller = Context.ROOT.attach();
      try {
        return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
          @Override
          public void start(Listener<A> listener, Metadata headers) {
            Context.ROOT.run(() -> super.start(listener, headers));
          }
        };
      } finally {
        Context.ROOT.detach(caller);
      }
    }
  }

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

  /** Calls fail with DEADLINE_EXCEEDED if no answer arrives within that time. */
  public WorkflowServiceStub workflows(long answerMs) {
    return workflows.withDeadlineAfter(answerMs, TimeUnit.MILLISECONDS);
  }

  public WorkerServiceStub workers() {
    return workers;
  }

  public WorkerServiceStub workers(long answerMs) {
    return workers.withDeadlineAfter(answerMs, TimeUnit.MILLISECONDS);
  }

  /** Runs the task on the timer thread after the delay, unless the connection is closed first. */
  public void after(long delayMs, Runnable task) {
    if (!timers.isShutdown()) {
      timers.schedule(task, delayMs, TimeUnit.MILLISECONDS);
    }
  }

  /**
   * Runs the task on the timer thread again and again, with this pause before each time. What it
   * throws is logged: a periodic task that throws would never be executed again.
   */
  public ScheduledFuture<?> every(long pauseMs, String what, Runnable task) {
    RepeatLimiter failures = new RepeatLimiter();
    return timers.scheduleWithFixedDelay(
        () -> {
          try {
            task.run();
          } catch (Throwable e) {
            String text = "a periodic task of the client failed, it will be repeated";
            (failures.isNew(e.getClass().getName()) ? log.error(text) : log.debug(text))
                .with("task", what)
                .with("address", addresses)
                .cause(e)
                .write();
          }
        },
        pauseMs,
        pauseMs,
        TimeUnit.MILLISECONDS);
  }

  public ScheduledThreadPoolExecutor timers() {
    return timers;
  }

  /**
   * Returns the exception of a call without an answer. Its cause is the error of the last try, if
   * one has ended.
   */
  public ServerUnavailableException noAnswer(
      String what, Duration within, @Nullable Throwable cause) {
    return new ServerUnavailableException(
        "%s: no answer within %s ms (expected: a server that answers; is it stopped, or does a proxy"
                .formatted(at(what), within.toMillis())
            + " or firewall drop packets?)",
        cause);
  }

  /**
   * Makes a blocking call and retries it after transient errors, up to the client's call timeout.
   * All tries have the same request id, so a retry after a lost answer has no second effect. The
   * call also ends with the caller's gRPC context.
   */
  public <Q, A> A call(MethodDescriptor<Q, A> method, Q request) {
    return call(method, request, callTimeout);
  }

  /** Like {@link #call}, but without a timeout; ends when the connection is closed. */
  public <Q, A> A callUntilAnswered(MethodDescriptor<Q, A> method, Q request) {
    return call(method, request, NO_TIMEOUT);
  }

  private <Q, A> A call(MethodDescriptor<Q, A> method, Q message, Duration longest) {
    Q request = RequestIds.withId(message);
    Duration timeout = untilDeadlineOfCaller(longest);
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
          || Context.current().isCancelled()
          || !(reason instanceof ServerUnavailableException)
          || timers.isShutdown()
          || leftNanos <= 0) {
        throw reason;
      }
      LockSupport.parkNanos(Math.min(leftNanos, TimeUnit.MILLISECONDS.toNanos(backoff.nextMs())));
    }
  }

  private static Duration untilDeadlineOfCaller(Duration longest) {
    Deadline deadline = Context.current().getDeadline();
    long nanos = longest.toNanos();
    return deadline == null
        ? longest
        : Duration.ofNanos(Math.min(nanos, deadline.timeRemaining(TimeUnit.NANOSECONDS)));
  }

  // An exceeded deadline is less informative than an earlier error, so the earlier one is kept.
  private KagziException reason(
      String method,
      Duration timeout,
      @Nullable KagziException earlier,
      StatusRuntimeException error) {
    if (!RpcErrors.isNoAnswer(error)) {
      return RpcErrors.toException(at(method), error);
    }
    return earlier != null ? earlier : noAnswer(method, timeout, error);
  }

  /**
   * Makes a call, and repeats it once if no server answered. Returns the answer and the address of
   * the server.
   */
  public <Q, A> Map.Entry<A, String> ask(
      MethodDescriptor<Q, A> method, Q request, Duration longest) {
    Duration within = untilDeadlineOfCaller(longest);
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
      // The channel may not have noticed yet that its server is available again.
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

  /** Returns the recorded steps of a claimed run; the calling thread reads them as they arrive. */
  public Iterator<GetHistoryResponse> history(GetHistoryRequest request) {
    return ClientCalls.blockingServerStreamingCall(
        background,
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
