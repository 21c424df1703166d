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

/** What a failed call means. */
public final class RpcErrors {
  private static final String REFUSED = "Connection refused";

  /** {@code HTTP/}. */
  private static final String HTTP_1_HEX = "485454502f";

  private static final String CODE_KEY = "code";
  private static final String STATUS_KEY = "status";

  private RpcErrors() {}

  /** Whether the same call may well work a little later. */
  public static boolean isTransient(Throwable error) {
    return switch (code(error)) {
      case UNAVAILABLE, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, ABORTED, CANCELLED -> true;
      // A connection that breaks at a bad moment; the server's own errors come with its words.
      case UNKNOWN, INTERNAL -> isFromTransport(error);
      default -> false;
    };
  }

  /**
   * Whether a message was over the limit of the transport, which says so with the code of a server
   * that is busy; a busy server's own refusal comes with its words.
   */
  public static boolean isTooLarge(Throwable error) {
    return code(error) == io.grpc.Status.Code.RESOURCE_EXHAUSTED && detail(error).isEmpty();
  }

  /** Whether the deadline of the call passed before a server answered. */
  public static boolean isNoAnswer(Throwable error) {
    return code(error) == io.grpc.Status.Code.DEADLINE_EXCEEDED && detail(error).isEmpty();
  }

  private static boolean isFromTransport(Throwable error) {
    boolean hasCause = io.grpc.Status.fromThrowable(error).getCause() instanceof IOException;
    boolean isCut = code(error) == io.grpc.Status.Code.INTERNAL && detail(error).isEmpty();
    return hasCause || isCut;
  }

  public static io.grpc.Status.Code code(Throwable error) {
    return io.grpc.Status.fromThrowable(error).getCode();
  }

  /** The call's error as the caller shall see it. */
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

  /** The name of a server's refusal, as docs/errors.md has it; of an older server, its class. */
  public static String refusalCode(ErrorDetail why) {
    String code = why.getMetadataOrDefault(CODE_KEY, "");
    return code.isEmpty() ? why.getMetadataOrDefault(STATUS_KEY, "") : code;
  }

  private static String describe(io.grpc.Status status, Throwable error) {
    Optional<String> said = detail(error).map(ErrorDetail::getMessage);
    if (said.isPresent()) {
      return said.get();
    }
    String text = status.getDescription();
    Throwable cause = root(status.getCause());
    if (cause != null && isNoGrpc(cause)) {
      return notGrpc(cause);
    }
    if (status.getCode() == io.grpc.Status.Code.UNAVAILABLE && cause != null) {
      return "no server answers: " + words(cause);
    }
    return text == null || text.isEmpty() ? status.getCode().name() : text;
  }

  /** The first bytes of the answer are in the transport's message, in hexadecimal. */
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

  /** Without the system call, which says nothing to users. */
  private static String words(Throwable cause) {
    String message = String.valueOf(cause.getMessage());
    int at = message.indexOf(REFUSED);
    return at < 0
        ? message
        : message.substring(at) + " (expected: a server there, such as that of ./kagzi dev)";
  }

  /** Where it began: in the words of the transport. */
  private static @Nullable Throwable root(@Nullable Throwable error) {
    Throwable last = error;
    while (last != null && last.getCause() != null && !last.getCause().equals(last)) {
      last = last.getCause();
    }
    return last;
  }

  /** The server's own words, if they came along. */
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
