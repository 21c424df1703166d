package dev.kagzi.sdk.fake;

import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The fake server on its own port. */
public final class FakeServer implements AutoCloseable {
  public final FakeState state = new FakeState();
  public final FakeWorkerService workers = new FakeWorkerService(this);
  public final FakeWorkflowService workflows = new FakeWorkflowService(this);
  private final Map<String, AtomicInteger> calls = new ConcurrentHashMap<>();
  private final Map<String, CountDownLatch> holds = new ConcurrentHashMap<>();
  private final Map<String, StatusRuntimeException> failures = new ConcurrentHashMap<>();
  private final ExecutorService executor = Executors.newCachedThreadPool();
  private @Nullable Server server;
  private int port;

  public FakeServer() {
    start();
  }

  /** Starts again on the same port. */
  public void start() {
    try {
      server =
          NettyServerBuilder.forAddress(
                  new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
              .executor(executor)
              .maxInboundMessageSize(16 << 20)
              .permitKeepAliveTime(1, TimeUnit.SECONDS)
              .permitKeepAliveWithoutCalls(true)
              .intercept(new Faults())
              .addService(workers)
              .addService(workflows)
              .build()
              .start();
      port = server.getPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Breaks every connection; the state is kept. */
  public void stop() {
    if (server == null) {
      return;
    }
    server.shutdownNow();
    try {
      server.awaitTermination();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Tasks no longer contain recorded steps. */
  public void keepHistoryApart() {
    synchronized (state) {
      state.historyApart = true;
    }
  }

  /** Polls return more runs of a type than requested. */
  public void ignoreLimits() {
    synchronized (state) {
      state.limitsIgnored = true;
    }
  }

  /** Polls return runs as if they were of this type. */
  public void dispatchAs(String workflowType) {
    synchronized (state) {
      state.dispatchedAs = workflowType;
    }
  }

  public String address() {
    return "127.0.0.1:" + port;
  }

  public int calls(String method) {
    return calls.getOrDefault(method, new AtomicInteger()).get();
  }

  /** Every call of the method fails until {@link #heal}. */
  public void fail(String method, Status status) {
    fail(method, status.asRuntimeException(new Metadata()));
  }

  /** Like {@link #fail(String, Status)}, with the details of a refusal. */
  public void fail(String method, StatusRuntimeException refusal) {
    failures.put(method, refusal);
  }

  public void heal(String method) {
    failures.remove(method);
  }

  /** Calls of the method wait until the latch is counted down. */
  public CountDownLatch hold(String method) {
    CountDownLatch held = new CountDownLatch(1);
    holds.put(method, held);
    return held;
  }

  /** Calls of the method are served, but their answers wait until the latch is counted down. */
  public CountDownLatch holdAnswer(String method) {
    return hold(answerKey(method));
  }

  static String answerKey(String method) {
    return method + " answer";
  }

  void awaitRelease(String method) throws InterruptedException {
    CountDownLatch held = holds.get(method);
    if (held != null) {
      held.await();
    }
  }

  private final class Faults implements ServerInterceptor {
    @Override
    public <Q, A> ServerCall.Listener<Q> interceptCall(
        ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
      String method = String.valueOf(call.getMethodDescriptor().getBareMethodName());
      calls.computeIfAbsent(method, unused -> new AtomicInteger()).incrementAndGet();
      StatusRuntimeException failure = failures.get(method);
      if (failure != null) {
        Metadata details = new Metadata();
        if (failure.getTrailers() != null) {
          details.merge(failure.getTrailers());
        }
        call.close(failure.getStatus(), details);
        return new ServerCall.Listener<>() {};
      }
      return next.startCall(call, headers);
    }
  }

  @Override
  public void close() {
    holds.values().forEach(CountDownLatch::countDown);
    stop();
    executor.shutdownNow();
  }
}
