package dev.kagzi.server.grpc;

import com.google.protobuf.Any;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.protocol.v1.ErrorCode;
import dev.kagzi.protocol.v1.ErrorDetail;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.util.Collections;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The only place that maps errors to gRPC: a {@code google.rpc.Status} whose details hold one
 * {@link ErrorDetail}. A {@link Refusal} is mapped as it is, unless its reason is INTERNAL. A
 * {@link StatusRuntimeException} is returned unchanged. Anything else is a bug or an outage: the
 * caller gets a reference, and the log has the stack trace with this reference.
 */
final class GrpcErrors {
  private static final Logger log = LoggerFactory.getLogger(GrpcErrors.class);

  /** Metadata key of the gRPC status name; also set for an item of a call that succeeds. */
  static final String STATUS_KEY = "status";

  /** Metadata key of {@link Refusal#code}, which docs/errors.md explains. */
  static final String CODE_KEY = "code";

  // Message and details travel in the trailers, which clients limit to 8 KiB.
  private static final int MESSAGE_LENGTH_MAX = 1_000;
  private static final int TEXT_LENGTH_MAX = 200;
  private static final int RECORDED_BYTES_MAX = 3_000;

  private GrpcErrors() {}

  static StatusRuntimeException of(Throwable problem) {
    Throwable cause = unwrap(problem);
    if (cause instanceof StatusRuntimeException status) {
      return status;
    }
    ErrorDetail detail = detail(cause);
    return StatusProto.toStatusRuntimeException(
        com.google.rpc.Status.newBuilder()
            .setCode(code(cause).value())
            .setMessage(detail.getMessage())
            .addDetails(Any.pack(detail))
            .build());
  }

  static void close(ServerCall<?, ?> call, Throwable problem) {
    StatusRuntimeException why = of(problem);
    Metadata trailers = why.getTrailers();
    call.close(why.getStatus(), trailers == null ? new Metadata() : trailers);
  }

  static ErrorDetail detail(Throwable problem) {
    Throwable cause = unwrap(problem);
    if (cause instanceof Refusal refusal && refusal.failure() != null) {
      return recordedFailure(refusal, refusal.failure());
    }
    if (cause instanceof Refusal refusal && refusal.reason() != Refusal.Reason.INTERNAL) {
      return ErrorDetail.newBuilder()
          .setCode(errorCode(refusal.reason()))
          .setMessage(shorten(String.valueOf(refusal.getMessage()), MESSAGE_LENGTH_MAX))
          .setNonRetryable(!isTransient(refusal.reason()))
          .setSubject(refusal.subject())
          .setSubjectId(refusal.subjectId())
          .putMetadata(STATUS_KEY, code(refusal).name())
          .putMetadata(CODE_KEY, refusal.code().name())
          .build();
    }
    return internalError(cause);
  }

  /**
   * Returns the failure as recorded. What does not fit into trailers is cut, the longest metadata
   * value first; the step keeps all of it.
   */
  private static ErrorDetail recordedFailure(Refusal refusal, Failure failure) {
    ErrorDetail.Builder detail = ResponseMapper.error(failure).toBuilder();
    detail.setMessage(shorten(failure.message(), MESSAGE_LENGTH_MAX));
    detail.setSubject(shorten(failure.subject(), TEXT_LENGTH_MAX));
    detail.setSubjectId(shorten(failure.subjectId(), TEXT_LENGTH_MAX));
    while (detail.getMetadataCount() > 0
        && detail.build().getSerializedSize() > RECORDED_BYTES_MAX) {
      Map.Entry<String, String> longest =
          Collections.max(
              detail.getMetadataMap().entrySet(),
              Comparator.comparingInt(entry -> entry.getValue().length()));
      if (longest.getValue().length() > TEXT_LENGTH_MAX) {
        detail.putMetadata(longest.getKey(), shorten(longest.getValue(), TEXT_LENGTH_MAX));
      } else {
        detail.removeMetadata(longest.getKey());
      }
    }
    // Metadata of the failure itself is not overwritten.
    if (!detail.containsMetadata(STATUS_KEY)) {
      detail.putMetadata(STATUS_KEY, code(refusal).name());
    }
    if (!detail.containsMetadata(CODE_KEY)) {
      detail.putMetadata(CODE_KEY, refusal.code().name());
    }
    return detail.build();
  }

  private static ErrorDetail internalError(Throwable cause) {
    String reference = HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
    log.atError()
        .addKeyValue("reference", reference)
        .setCause(cause)
        .log("call failed by an internal error");
    return ErrorDetail.newBuilder()
        .setCode(ErrorCode.ERROR_CODE_INTERNAL)
        .setMessage("internal error; the server's log has the reason under reference " + reference)
        .setSubject("reference")
        .setSubjectId(reference)
        .putMetadata(STATUS_KEY, Status.Code.INTERNAL.name())
        .putMetadata(CODE_KEY, Refusal.Code.INTERNAL.name())
        .build();
  }

  private static Throwable unwrap(Throwable problem) {
    Throwable cause = problem;
    while ((cause instanceof CompletionException || cause instanceof ExecutionException)
        && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause;
  }

  /** Never cuts within a surrogate pair: half of one cannot be sent. */
  private static String shorten(String text, int lengthMax) {
    if (text.length() <= lengthMax) {
      return text;
    }
    boolean cutsPair = Character.isHighSurrogate(text.charAt(lengthMax - 1));
    return text.substring(0, cutsPair ? lengthMax - 1 : lengthMax) + "…";
  }

  /** A reason has the name of its gRPC status. */
  private static Status.Code code(Throwable cause) {
    return cause instanceof Refusal refusal
        ? Status.Code.valueOf(refusal.reason().name())
        : Status.Code.INTERNAL;
  }

  // The protocol has fewer codes than gRPC; the metadata has the exact one.
  private static ErrorCode errorCode(Refusal.Reason reason) {
    return switch (reason) {
      case INVALID_ARGUMENT -> ErrorCode.ERROR_CODE_INVALID_ARGUMENT;
      case UNAUTHENTICATED -> ErrorCode.ERROR_CODE_UNAUTHORIZED;
      case NOT_FOUND -> ErrorCode.ERROR_CODE_NOT_FOUND;
      case ALREADY_EXISTS, ABORTED -> ErrorCode.ERROR_CODE_CONFLICT;
      case FAILED_PRECONDITION, UNIMPLEMENTED -> ErrorCode.ERROR_CODE_PRECONDITION_FAILED;
      case RESOURCE_EXHAUSTED, UNAVAILABLE -> ErrorCode.ERROR_CODE_UNAVAILABLE;
      case INTERNAL -> ErrorCode.ERROR_CODE_INTERNAL;
    };
  }

  private static boolean isTransient(Refusal.Reason reason) {
    return reason == Refusal.Reason.RESOURCE_EXHAUSTED || reason == Refusal.Reason.UNAVAILABLE;
  }

  static Refusal stopping() {
    return Refusal.of(
        Refusal.Code.SERVER_STOPPING, "server", "", "the server is stopping; call another server");
  }

  static Refusal unimplemented(String subject, String name) {
    return Refusal.of(
        Refusal.Reason.UNIMPLEMENTED,
        subject,
        name,
        name + ": this server does not implement it yet (expected: " + subject + " not used)");
  }
}
