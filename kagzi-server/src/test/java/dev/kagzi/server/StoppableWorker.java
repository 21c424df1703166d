package dev.kagzi.server;

import dev.kagzi.protocol.v1.HeartbeatRequest;
import dev.kagzi.protocol.v1.WorkerServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A worker in its own process, which a test stops and continues with signals. It always has many
 * calls open. It prints a line after each registration and exits when its input closes.
 */
final class StoppableWorker {
  private static final long HEARTBEAT_MS = 500;

  private StoppableWorker() {}

  /** The argument is the server's port. */
  public static void main(String[] arguments) throws Exception {
    CountDownLatch ended = new CountDownLatch(1);
    Thread.ofPlatform().daemon().start(() -> awaitEndOfInput(ended));
    ManagedChannel channel = OpenCallsClient.channel(Integer.parseInt(arguments[0]));
    String worker = begin(channel);
    while (!ended.await(HEARTBEAT_MS, TimeUnit.MILLISECONDS)) {
      try {
        WorkerServiceGrpc.newBlockingStub(channel)
            .withDeadlineAfter(5, TimeUnit.SECONDS)
            .heartbeat(HeartbeatRequest.newBuilder().setWorkerId(worker).build());
      } catch (StatusRuntimeException offlineOrDisconnected) {
        worker = begin(channel);
      }
    }
    System.exit(0);
  }

  private static String begin(ManagedChannel channel) {
    OpenCallsClient calls = new OpenCallsClient(channel);
    calls.open(List.of());
    System.out.println("registered");
    return calls.workerId();
  }

  private static void awaitEndOfInput(CountDownLatch ended) {
    try {
      while (System.in.read() >= 0) {
        // The parent sends nothing; only the end of the input counts.
      }
    } catch (IOException e) {
      // The parent is gone.
    }
    ended.countDown();
  }
}
