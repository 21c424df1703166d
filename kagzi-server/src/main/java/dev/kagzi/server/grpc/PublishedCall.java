package dev.kagzi.server.grpc;

import dev.kagzi.engine.query.PublishedView;
import dev.kagzi.engine.value.Limits;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.protocol.v1.GetPublishedRequest;
import dev.kagzi.protocol.v1.GetPublishedResponse;
import dev.kagzi.protocol.v1.PublishedValue;
import io.grpc.stub.StreamObserver;

/**
 * Reads published values, after waiting until there is a new value, the run ends, or the wait time
 * is over.
 */
record PublishedCall(GrpcContext context, String namespace, RunId runId, String name, long after) {
  // A longer call is likely to break before it is answered.
  private static final long WAIT_MS_MAX = 60_000;

  static void open(
      GrpcContext context,
      GetPublishedRequest request,
      StreamObserver<GetPublishedResponse> caller) {
    try {
      // One statement reads for all waiting calls. A name that the database refuses would make it
      // fail for all of them.
      Limits.checkStorable("name", request.getName());
      PublishedCall call =
          new PublishedCall(
              context,
              Arguments.namespace(request.getNamespace()),
              Arguments.runId(request.getRunId()),
              request.getName(),
              Arguments.notNegative("after_version", request.getAfterVersion()));
      call.open(
          Math.min(Arguments.notNegative("wait_ms", request.getWaitMs()), WAIT_MS_MAX), caller);
    } catch (RuntimeException e) {
      caller.onError(GrpcErrors.of(e));
    }
  }

  private void open(long waitMs, StreamObserver<GetPublishedResponse> caller) {
    new WatchedRead<>(context, "published", caller, this::read)
        .open(
            waitMs,
            call ->
                context.engine().published().watch(namespace, runId, name, after, call::respond)
                    ::close);
  }

  private GetPublishedResponse read() {
    PublishedView view = context.engine().queries().published(namespace, runId, name, after);
    GetPublishedResponse.Builder response =
        GetPublishedResponse.newBuilder().setStatus(ResponseMapper.status(view.status()));
    for (PublishedView.Value value : view.values()) {
      response.addValues(
          PublishedValue.newBuilder()
              .setName(value.name())
              .setValue(ResponseMapper.payload(value.payload()))
              .setVersion(value.version())
              .setPublishedAt(ResponseMapper.timestamp(value.publishedAt())));
    }
    return response.build();
  }
}
