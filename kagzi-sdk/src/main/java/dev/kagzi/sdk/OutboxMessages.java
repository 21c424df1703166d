package dev.kagzi.sdk;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.kagzi.protocol.v1.SignalWorkflowRequest;
import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.sdk.internal.client.RunCalls;
import dev.kagzi.sdk.internal.jdbc.OutboxRow;
import dev.kagzi.sdk.internal.jdbc.OutboxSender;
import dev.kagzi.sdk.internal.wire.RpcErrors;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** Sends the messages of an outbox. */
final class OutboxMessages {
  /** Codes by which a server says that it would refuse the same message again. */
  private static final Set<String> FINAL =
      Set.of(
          "INVALID_ARGUMENT",
          "PARENT_NOT_FOUND",
          "NOT_FOUND",
          "ALREADY_EXISTS",
          "ID_IN_USE",
          "RUN_ID_IN_USE",
          "FAILED_PRECONDITION",
          "RUN_ENDED",
          "SIGNALS_UNSUPPORTED");

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

  /**
   * Whether the server would refuse the message again. All other failures may pass: a refused row
   * is not sent again, so a fault of a proxy or a server must not refuse it.
   */
  private static boolean isFinal(Throwable failure) {
    return failure instanceof PayloadException
        || (failure instanceof KagziException known
            && FINAL.contains(known.code())
            && isOfServer(known));
  }

  /** The refusal of one item of a call has no cause; the answer to the call contained it. */
  private static boolean isOfServer(KagziException refusal) {
    return refusal.getCause() == null || RpcErrors.isFromServer(refusal);
  }
}
