package dev.kagzi.sdk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.Any;
import dev.kagzi.protocol.v1.ErrorCode;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.sdk.internal.jdbc.TestDatabases;
import dev.kagzi.sdk.jdbc.OutboxRelay;
import dev.kagzi.sdk.jdbc.OutboxTable;
import dev.kagzi.sdk.jdbc.RelayProblem;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Which answers refuse a message of the outbox for good, and after which it is sent again. */
class OutboxRefusalTest extends FakeServerTest {
  private static final Signal<Integer> NUMBER = Signal.of("number", Integer.class);

  private final DataSource database = TestDatabases.postgres();
  private final OutboxTable table = OutboxTable.in(database);

  @BeforeEach
  void createTable() throws SQLException {
    table.create();
  }

  /** A refusal as a Kagzi server sends it. */
  private static StatusRuntimeException refusal(Status.Code status, String code) {
    ErrorDetail detail =
        ErrorDetail.newBuilder()
            .setCode(ErrorCode.ERROR_CODE_PRECONDITION_FAILED)
            .setMessage("refused: " + code)
            .putMetadata("status", status.name())
            .putMetadata("code", code)
            .build();
    return StatusProto.toStatusRuntimeException(
        com.google.rpc.Status.newBuilder()
            .setCode(status.value())
            .setMessage(detail.getMessage())
            .addDetails(Any.pack(detail))
            .build());
  }

  static Stream<StatusRuntimeException> passing() {
    return Stream.of(
        Status.UNKNOWN.asRuntimeException(),
        Status.UNIMPLEMENTED.asRuntimeException(),
        Status.PERMISSION_DENIED.asRuntimeException(),
        Status.NOT_FOUND.asRuntimeException(),
        Status.FAILED_PRECONDITION.asRuntimeException(),
        refusal(Status.Code.UNIMPLEMENTED, "UNIMPLEMENTED"),
        refusal(Status.Code.INTERNAL, "INTERNAL"),
        refusal(Status.Code.FAILED_PRECONDITION, "CODE_OF_A_NEWER_SERVER"));
  }

  static Stream<StatusRuntimeException> lasting() {
    return Stream.of(
        refusal(Status.Code.INVALID_ARGUMENT, "INVALID_ARGUMENT"),
        refusal(Status.Code.NOT_FOUND, "NOT_FOUND"),
        refusal(Status.Code.FAILED_PRECONDITION, "RUN_ENDED"));
  }

  private RunHandle<String> startInOutbox() throws SQLException {
    try (Connection connection = database.getConnection()) {
      connection.setAutoCommit(false);
      RunHandle<String> run = kagzi.workflow(GREET).startInOutbox(connection, "Ada");
      connection.commit();
      return run;
    }
  }

  private void signalInOutbox() throws SQLException {
    try (Connection connection = database.getConnection()) {
      connection.setAutoCommit(false);
      start().signalInOutbox(connection, NUMBER, 1);
      connection.commit();
    }
  }

  private static void awaitProblem(OutboxRelay relay, RelayProblem.Kind kind) {
    await()
        .atMost(SOON)
        .until(() -> relay.problems().stream().anyMatch(each -> each.kind() == kind));
  }

  @ParameterizedTest
  @MethodSource("passing")
  void a_message_is_sent_again_unless_a_server_has_refused_it_for_good(
      StatusRuntimeException failure) throws SQLException {
    server.fail("StartWorkflows", failure);
    RunHandle<String> run = startInOutbox();
    try (OutboxRelay relay = kagzi.relayOutbox(database)) {
      awaitProblem(relay, RelayProblem.Kind.MESSAGES_WAITING);
      assertThat(table.refused(10)).isEmpty();

      server.heal("StartWorkflows");

      await().atMost(SOON).until(() -> relay.sent() == 1);
      assertThat(run.status()).isEqualTo(RunStatus.PENDING);
    }
  }

  @ParameterizedTest
  @MethodSource("lasting")
  void a_message_that_a_server_refuses_for_good_is_not_sent_again(StatusRuntimeException failure)
      throws SQLException {
    server.fail("SignalWorkflow", failure);
    signalInOutbox();
    try (OutboxRelay relay = kagzi.relayOutbox(database)) {
      awaitProblem(relay, RelayProblem.Kind.MESSAGES_REFUSED);

      assertThat(table.refused(10)).hasSize(1);
    }
  }

  /** The chain continued faster than the server could follow it. */
  @Test
  void a_signal_to_a_run_that_continues_as_new_again_and_again_is_sent_again() throws SQLException {
    server.fail("SignalWorkflow", refusal(Status.Code.FAILED_PRECONDITION, "RUN_CONTINUED"));
    signalInOutbox();
    try (OutboxRelay relay = kagzi.relayOutbox(database)) {
      awaitProblem(relay, RelayProblem.Kind.MESSAGES_WAITING);

      int calls = server.calls("SignalWorkflow");
      await().atMost(SOON).until(() -> server.calls("SignalWorkflow") > calls);
      assertThat(table.refused(10)).isEmpty();
    }
  }
}
