package dev.kagzi.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.protocol.v1.AdminServiceGrpc;
import dev.kagzi.protocol.v1.NamespaceServiceGrpc;
import dev.kagzi.protocol.v1.WorkerServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowScheduleServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowServiceGrpc;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.io.ByteArrayInputStream;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class UnimplementedTest {
  @Test
  void every_call_of_the_protocol_is_implemented() throws Exception {
    Set<String> unimplemented = new TreeSet<>();

    try (TestServer server = TestServer.start()) {
      for (MethodDescriptor<?, ?> method : methods().toList()) {
        Status status = call(server, method);
        assertThat(status.getCode())
            .as("%s: %s", method.getFullMethodName(), status)
            .isNotIn(Status.Code.UNKNOWN, Status.Code.INTERNAL, Status.Code.DEADLINE_EXCEEDED);
        if (status.getCode() == Status.Code.UNIMPLEMENTED) {
          unimplemented.add(method.getFullMethodName());
        }
      }
    }

    assertThat(unimplemented).isEmpty();
  }

  private static Stream<MethodDescriptor<?, ?>> methods() {
    return Stream.of(
            WorkflowServiceGrpc.getServiceDescriptor(),
            WorkerServiceGrpc.getServiceDescriptor(),
            WorkflowScheduleServiceGrpc.getServiceDescriptor(),
            AdminServiceGrpc.getServiceDescriptor(),
            NamespaceServiceGrpc.getServiceDescriptor())
        .flatMap(service -> service.getMethods().stream());
  }

  /** Sends an empty message and returns the call's status. */
  private static <Q, A> Status call(TestServer server, MethodDescriptor<Q, A> method)
      throws Exception {
    CompletableFuture<Status> end = new CompletableFuture<>();
    ClientCall<Q, A> call =
        server
            .sharedChannel()
            .newCall(method, CallOptions.DEFAULT.withDeadlineAfter(5, TimeUnit.SECONDS));
    call.start(
        new ClientCall.Listener<A>() {
          @Override
          public void onClose(Status status, Metadata trailers) {
            end.complete(status);
          }
        },
        new Metadata());
    call.request(10);
    call.sendMessage(method.parseRequest(new ByteArrayInputStream(new byte[0])));
    call.halfClose();
    return end.get(10, TimeUnit.SECONDS);
  }
}
