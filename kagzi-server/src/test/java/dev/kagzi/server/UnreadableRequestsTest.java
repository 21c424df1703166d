package dev.kagzi.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.CallOptions;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HexFormat;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UnreadableRequestsTest {
  private static TestServer server;

  @BeforeAll
  static void startServer() {
    server = TestServer.start();
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  /** Invalid UTF-8, a field that is longer than the message, a field with number 0. */
  @ParameterizedTest
  @ValueSource(strings = {"0a02c328", "0a3201", "00", "ff"})
  void bytes_that_are_no_message_are_an_invalid_argument(String hex) {
    byte[] bytes = HexFormat.of().parseHex(hex);

    CallErrors.refused(
        Status.Code.INVALID_ARGUMENT, () -> call("WorkflowService/StartWorkflow", bytes));
    CallErrors.refused(Status.Code.INVALID_ARGUMENT, () -> call("WorkerService/Attach", bytes));
    CallErrors.refused(
        Status.Code.INVALID_ARGUMENT, () -> call("WorkflowService/WatchWorkflows", bytes));

    assertThat(server.startRun("after", "order")).isNotEmpty();
  }

  private static void call(String method, byte[] request) {
    ClientCalls.blockingUnaryCall(
        server.sharedChannel(),
        MethodDescriptor.newBuilder(new Raw(), new Raw())
            .setType(MethodDescriptor.MethodType.UNARY)
            .setFullMethodName("kagzi.v1." + method)
            .build(),
        CallOptions.DEFAULT,
        request);
  }

  private static final class Raw implements MethodDescriptor.Marshaller<byte[]> {
    @Override
    public InputStream stream(byte[] bytes) {
      return new ByteArrayInputStream(bytes);
    }

    @Override
    public byte[] parse(InputStream bytes) {
      try {
        return bytes.readAllBytes();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
