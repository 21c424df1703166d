package dev.kagzi.sdk;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.kagzi.protocol.v1.SignalWorkflowRequest;
import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.sdk.internal.client.RunCalls;
import dev.kagzi.sdk.internal.jdbc.OutboxRow;
import dev.kagzi.sdk.internal.jdbc.OutboxSender;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** Sends the messages of an outbox. */
final class OutboxMessages {
  /** Codes of refusals that may be temporary: the server may accept the same message later. */
  private static final Set<String> PASSING =
      Set.of(
          "UNAUTHENTICATED",
          "RESOURCE_EXHAUSTED",
          "UNAVAILABLE",
          "SERVER_STOPPING",
          "NAMESPACE_DISABLED",
          "TOO_MANY_SIGNALS");

  private OutboxMessages() {}

  static OutboxSender sender(RunCalls runs) {
    return new OutboxSender(
        row -> send(runs, row),
        failure -> failure instanceof ServerUnavailableException,
        failure -> failure instanceof RunNotFoundException,
        OutboxMessages::isFinal);
  }

  private static CompletableFuture<?> send(RunCalls runs, OutboxRow row) {
    try {
      return switch (row.kind()) {
        case START -> runs.startWithId(StartWorkflowRequest.parseFrom(row.message()));
        case SIGNAL -> signal(runs, SignalWorkflowRequest.parseFrom(row.message()));
      };
    } catch (InvalidProtocolBufferException e) {
      return CompletableFuture.failedFuture(
          PayloadException.unwritable("message of the outbox: " + e.getMessage(), e));
    }
  }

  private static CompletableFuture<?> signal(RunCalls runs, SignalWorkflowRequest signal) {
    return CompletableFuture.runAsync(
        () ->
            runs.signal(
                signal.getRunId(), signal.getName(), signal.getPayload(), signal.getSignalId()),
        Kagzi.CALLBACKS);
  }

  /** Whether the server would refuse the message again. */
  private static boolean isFinal(Throwable failure) {
    return failure instanceof KagziException known
        && !(known instanceof ServerUnavailableException)
        && !(known instanceof WaitInterruptedException)
        && !PASSING.contains(known.code());
  }
}
