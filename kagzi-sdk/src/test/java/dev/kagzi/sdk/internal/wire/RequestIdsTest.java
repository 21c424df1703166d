package dev.kagzi.sdk.internal.wire;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import dev.kagzi.protocol.v1.AdminServiceGrpc;
import dev.kagzi.protocol.v1.CreateNamespaceRequest;
import dev.kagzi.protocol.v1.CreateNamespaceResponse;
import dev.kagzi.protocol.v1.GetNamespaceRequest;
import dev.kagzi.protocol.v1.NamespaceServiceGrpc;
import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.protocol.v1.WorkerServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowScheduleServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowServiceGrpc;
import dev.kagzi.sdk.Kagzi;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The ids by which a server recognizes a call that is sent again. */
class RequestIdsTest {
  private final Creations creations = new Creations();
  private Server server;

  /** Does not answer the first two calls. */
  private static final class Creations extends NamespaceServiceGrpc.NamespaceServiceImplBase {
    final List<CreateNamespaceRequest> received = new CopyOnWriteArrayList<>();

    @Override
    public void createNamespace(
        CreateNamespaceRequest request, StreamObserver<CreateNamespaceResponse> caller) {
      received.add(request);
      if (received.size() < 3) {
        caller.onError(Status.UNAVAILABLE.withDescription("not now").asRuntimeException());
        return;
      }
      caller.onNext(CreateNamespaceResponse.getDefaultInstance());
      caller.onCompleted();
    }
  }

  @BeforeEach
  void open() throws IOException {
    server =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .addService(creations)
            .build()
            .start();
  }

  @AfterEach
  void close() {
    server.shutdownNow();
  }

  private String address() {
    return "127.0.0.1:" + server.getPort();
  }

  @Test
  void a_call_that_is_tried_again_keeps_its_id_and_the_next_call_has_another() {
    try (Kagzi kagzi = Kagzi.connect(address())) {
      kagzi.namespaces().create("one");
      kagzi.namespaces().create("one");
    }

    List<String> ids =
        creations.received.stream().map(CreateNamespaceRequest::getRequestId).toList();
    assertThat(ids).hasSize(4).allSatisfy(id -> assertThat(UUID.fromString(id)).isNotNull());
    assertThat(ids.subList(0, 3)).containsOnly(ids.get(0));
    assertThat(ids.get(3)).isNotEqualTo(ids.get(0));
  }

  @Test
  void calls_over_a_channel_for_stubs_of_the_protocol_have_ids() {
    ManagedChannel channel = Kagzi.builder().address(address()).openChannel();
    try {
      for (int i = 0; i < 3; i++) {
        sendQuietly(channel);
      }
    } finally {
      channel.shutdownNow();
    }

    assertThat(creations.received)
        .extracting(CreateNamespaceRequest::getRequestId)
        .doesNotHaveDuplicates()
        .doesNotContain("");
  }

  private static void sendQuietly(ManagedChannel channel) {
    try {
      NamespaceServiceGrpc.newBlockingStub(channel)
          .createNamespace(CreateNamespaceRequest.getDefaultInstance());
    } catch (io.grpc.StatusRuntimeException unavailable) {
      assertThat(unavailable.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
    }
  }

  @Test
  void an_existing_id_is_kept_and_a_read_gets_none() {
    StartWorkflowRequest start = StartWorkflowRequest.newBuilder().setRunId("mine").build();
    GetNamespaceRequest read = GetNamespaceRequest.getDefaultInstance();

    assertThat(RequestIds.withId(start)).isSameAs(start);
    assertThat(RequestIds.withId(read)).isSameAs(read);
  }

  @Test
  void every_request_of_the_protocol_with_a_request_id_is_given_one() {
    List<Message> requests =
        Stream.of(
                WorkflowServiceGrpc.getServiceDescriptor(),
                WorkerServiceGrpc.getServiceDescriptor(),
                WorkflowScheduleServiceGrpc.getServiceDescriptor(),
                NamespaceServiceGrpc.getServiceDescriptor(),
                AdminServiceGrpc.getServiceDescriptor())
            .flatMap(service -> service.getMethods().stream())
            .map(RequestIdsTest::emptyRequest)
            .filter(request -> field(request) != null)
            .toList();

    assertThat(requests).hasSizeGreaterThan(10);
    assertThat(requests)
        .allSatisfy(
            request -> {
              Message given = RequestIds.withId(request);
              assertThat(given.getField(Objects.requireNonNull(field(given)))).isNotEqualTo("");
            });
  }

  private static @Nullable FieldDescriptor field(Message request) {
    return request.getDescriptorForType().findFieldByName("request_id");
  }

  private static Message emptyRequest(MethodDescriptor<?, ?> method) {
    Object prototype =
        ((MethodDescriptor.PrototypeMarshaller<?>) method.getRequestMarshaller())
            .getMessagePrototype();
    return (Message) Objects.requireNonNull(prototype);
  }
}
