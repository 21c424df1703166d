package dev.kagzi.server.grpc;

import com.google.protobuf.Any;
import dev.kagzi.protocol.v1.ErrorCode;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.server.listen.AccessToken;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.protobuf.StatusProto;

/** Lets in who shows the token, and whoever only asks how the server is. */
final class TokenGuard implements ServerInterceptor {
  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  private final AccessToken token;

  TokenGuard(AccessToken token) {
    this.token = token;
  }

  @Override
  public <Q, A> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
    if (isHealth(call) || token.admits(headers.get(AUTHORIZATION))) {
      return next.startCall(call, headers);
    }
    StatusRuntimeException why = refusal();
    Metadata trailers = why.getTrailers();
    call.close(why.getStatus(), trailers == null ? new Metadata() : trailers);
    return new ServerCall.Listener<>() {};
  }

  private static boolean isHealth(ServerCall<?, ?> call) {
    return HealthGrpc.SERVICE_NAME.equals(call.getMethodDescriptor().getServiceName());
  }

  private static StatusRuntimeException refusal() {
    String message = "authorization: not the server's token (expected: Bearer TOKEN)";
    ErrorDetail detail =
        ErrorDetail.newBuilder()
            .setCode(ErrorCode.ERROR_CODE_UNAUTHORIZED)
            .setMessage(message)
            .setNonRetryable(true)
            .setSubject("authorization")
            .putMetadata(Errors.STATUS_KEY, Status.Code.UNAUTHENTICATED.name())
            .build();
    return StatusProto.toStatusRuntimeException(
        com.google.rpc.Status.newBuilder()
            .setCode(Status.Code.UNAUTHENTICATED.value())
            .setMessage(message)
            .addDetails(Any.pack(detail))
            .build());
  }
}
