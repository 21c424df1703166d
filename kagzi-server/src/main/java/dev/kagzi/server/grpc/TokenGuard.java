package dev.kagzi.server.grpc;

import dev.kagzi.engine.value.Refusal;
import dev.kagzi.server.listen.AccessToken;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.health.v1.HealthGrpc;

/**
 * Accepts calls with the token, and health checks without. A watch of the health needs the token:
 * its stream stays open, and anybody could open any number of them.
 */
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
    if (isHealthCheck(call) || token.accepts(headers.get(AUTHORIZATION))) {
      return next.startCall(call, headers);
    }
    GrpcErrors.close(call, refusal());
    return new ServerCall.Listener<>() {};
  }

  private static boolean isHealthCheck(ServerCall<?, ?> call) {
    return HealthGrpc.SERVICE_NAME.equals(call.getMethodDescriptor().getServiceName())
        && call.getMethodDescriptor().getType().serverSendsOneMessage();
  }

  private static Refusal refusal() {
    return Refusal.of(
        Refusal.Code.UNAUTHENTICATED,
        "authorization",
        "",
        "authorization: not the server's token (expected: Bearer TOKEN)");
  }
}
