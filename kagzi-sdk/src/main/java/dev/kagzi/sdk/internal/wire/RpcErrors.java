package dev.kagzi.sdk.internal.wire;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.Status;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.sdk.KagziException;
import dev.kagzi.sdk.RequestRefusedException;
import dev.kagzi.sdk.ServerUnavailableException;
import io.grpc.protobuf.StatusProto;
import java.io.IOException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

public final class RpcErrors {
  private static final String REFUSED = "Connection refused";

  /** "HTTP/" in hexadecimal. */
  private static final String HTTP_1_HEX = "485454502f";

  private static final String CODE_KEY = "code";
  private static final String STATUS_KEY = "status";

  private RpcErrors() {}

  public static boolean isTransient(Throwable error) {
    return switch (code(error)) {
      case UNAVAILABLE, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, ABORTED, CANCELLED -> true;
      // A broken connection may be reported like this; the server's own errors have an ErrorDetail.
      case UNKNOWN, INTERNAL -> isFromTransport(error);
      default -> false;
    };
  }

  /**
   * Returns whether a message exceeded gRPC's size limit. gRPC reports that with the status code of
   * an overloaded server; an overloaded server's own refusal has an ErrorDetail.
   */
  public static boolean isTooLarge(Throwable error) {
    return code(error) == io.grpc.Status.Code.RESOURCE_EXHAUSTED && detail(error).isEmpty();
  }

  public static boolean isNoAnswer(Throwable error) {
    return code(error) == io.grpc.Status.Code.DEADLINE_EXCEEDED && detail(error).isEmpty();
  }

  /** Returns whether a Kagzi server made this error, and not a proxy or the connection. */
  public static boolean isFromServer(Throwable error) {
    return detail(error).isPresent();
  }

  private static boolean isFromTransport(Throwable error) {
    boolean hasCause = io.grpc.Status.fromThrowable(error).getCause() instanceof IOException;
    boolean isCut = code(error) == io.grpc.Status.Code.INTERNAL && detail(error).isEmpty();
    return hasCause || isCut;
  }

  public static io.grpc.Status.Code code(Throwable error) {
    return io.grpc.Status.fromThrowable(error).getCode();
  }

  public static KagziException toException(String what, Throwable error) {
    if (error instanceof KagziException known) {
      return known;
    }
    io.grpc.Status status = io.grpc.Status.fromThrowable(error);
    String message = "%s: %s".formatted(what, describe(status, error));
    if (isTransient(error)) {
      return new ServerUnavailableException(message, error);
    }
    String code = detail(error).map(RpcErrors::refusalCode).orElse("");
    return new RequestRefusedException(
        code.isEmpty() ? status.getCode().name() : code, message, error);
  }

  /** Returns the code of a refusal ({@code docs/errors.md}); for an older server, its status. */
  public static String refusalCode(ErrorDetail refusal) {
    String code = refusal.getMetadataOrDefault(CODE_KEY, "");
    return code.isEmpty() ? refusal.getMetadataOrDefault(STATUS_KEY, "") : code;
  }

  private static String describe(io.grpc.Status status, Throwable error) {
    Optional<String> serverMessage = detail(error).map(ErrorDetail::getMessage);
    if (serverMessage.isPresent()) {
      return serverMessage.get();
    }
    String text = status.getDescription();
    Throwable cause = root(status.getCause());
    if (cause != null && isNoGrpc(cause)) {
      return notGrpc(cause);
    }
    if (status.getCode() == io.grpc.Status.Code.UNAVAILABLE && cause != null) {
      return "no server answers: " + withoutSystemCall(cause);
    }
    return text == null || text.isEmpty() ? status.getCode().name() : text;
  }

  /** The message of the exception contains the first bytes of the answer in hexadecimal. */
  private static String notGrpc(Throwable cause) {
    String message = String.valueOf(cause.getMessage());
    return message.contains(HTTP_1_HEX) || message.contains("HTTP/1.")
        ? "that is an HTTP port: HTTP/1.1 answers there, such as the HTTP port of a Kagzi server"
            + " (8484 by default), and not gRPC (expected: the gRPC port of the server, 50051 by"
            + " default)"
        : "what answers there does not speak gRPC (" + message + ")";
  }

  private static boolean isNoGrpc(Throwable cause) {
    String message = String.valueOf(cause.getMessage());
    return message.contains("First received frame was not SETTINGS")
        || message.contains("not an HTTP/2 connection");
  }

  /** Returns the message without the name of the system call, which does not help users. */
  private static String withoutSystemCall(Throwable cause) {
    String message = String.valueOf(cause.getMessage());
    int at = message.indexOf(REFUSED);
    return at < 0
        ? message
        : message.substring(at) + " (expected: a server there, such as that of ./kagzi dev)";
  }

  private static @Nullable Throwable root(@Nullable Throwable error) {
    Throwable last = error;
    while (last != null && last.getCause() != null && !last.getCause().equals(last)) {
      last = last.getCause();
    }
    return last;
  }

  static Optional<ErrorDetail> detail(Throwable error) {
    Status status = StatusProto.fromThrowable(error);
    if (status == null) {
      return Optional.empty();
    }
    for (Any any : status.getDetailsList()) {
      if (any.is(ErrorDetail.class)) {
        try {
          return Optional.of(any.unpack(ErrorDetail.class));
        } catch (InvalidProtocolBufferException e) {
          return Optional.empty();
        }
      }
    }
    return Optional.empty();
  }
}
