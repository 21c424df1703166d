package dev.kagzi.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.grpc.reflection.v1.ServerReflectionGrpc;
import io.grpc.reflection.v1.ServerReflectionRequest;
import io.grpc.reflection.v1.ServerReflectionResponse;
import io.grpc.reflection.v1.ServiceResponse;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ReflectionTest {

  @Test
  void reflection_describes_the_protocol_when_it_is_on() throws Exception {
    try (TestServer server =
        TestServer.start(TestServer.createDatabase(), config -> config.reflection(true))) {
      ServerReflectionResponse services =
          ask(server, ServerReflectionRequest.newBuilder().setListServices("").build());
      ServerReflectionResponse file =
          ask(
              server,
              ServerReflectionRequest.newBuilder()
                  .setFileContainingSymbol("kagzi.v1.WorkerService.PollTasks")
                  .build());

      assertThat(services.getListServicesResponse().getServiceList())
          .extracting(ServiceResponse::getName)
          .contains(
              "kagzi.v1.WorkflowService",
              "kagzi.v1.WorkerService",
              "kagzi.v1.WorkflowScheduleService",
              "kagzi.v1.AdminService",
              "kagzi.v1.NamespaceService",
              "grpc.health.v1.Health");
      assertThat(file.getFileDescriptorResponse().getFileDescriptorProtoCount()).isPositive();
    }
  }

  @Test
  void reflection_is_off_by_default() {
    try (TestServer server = TestServer.start()) {
      assertThat(
              org.assertj.core.api.Assertions.catchThrowable(
                  () -> ask(server, ServerReflectionRequest.newBuilder().build())))
          .isInstanceOf(ExecutionException.class)
          .extracting(Status::fromThrowable)
          .extracting(Status::getCode)
          .isEqualTo(Status.Code.UNIMPLEMENTED);
    }
  }

  private static ServerReflectionResponse ask(TestServer server, ServerReflectionRequest request)
      throws Exception {
    CompletableFuture<ServerReflectionResponse> answer = new CompletableFuture<>();
    StreamObserver<ServerReflectionRequest> requests =
        ServerReflectionGrpc.newStub(server.sharedChannel())
            .serverReflectionInfo(
                new StreamObserver<>() {
                  @Override
                  public void onNext(ServerReflectionResponse response) {
                    answer.complete(response);
                  }

                  @Override
                  public void onError(Throwable problem) {
                    answer.completeExceptionally(problem);
                  }

                  @Override
                  public void onCompleted() {}
                });
    requests.onNext(request);
    requests.onCompleted();
    return answer.get(10, TimeUnit.SECONDS);
  }
}
