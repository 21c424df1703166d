package dev.kagzi.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Timestamp;
import com.google.protobuf.UnknownFieldSet;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.ListWorkflowsRequest;
import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.protocol.v1.StartWorkflowsRequest;
import dev.kagzi.protocol.v1.StartWorkflowsResponse;
import io.grpc.Status;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Fields that the server does not implement are refused, never ignored. */
class RefusedFieldsTest {
  private static TestServer server;

  @BeforeAll
  static void startServer() {
    server = TestServer.start();
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  /** Returns every field of a start that is not implemented yet. */
  static Stream<String> startFields() {
    return Stream.of("start_at", "priority");
  }

  @ParameterizedTest
  @MethodSource("startFields")
  void a_start_with_an_unimplemented_field_is_refused_by_its_name(String field) {
    StartWorkflowRequest request = with(field);

    ErrorDetail detail =
        CallErrors.refused(
            Status.Code.UNIMPLEMENTED, () -> server.workflows().startWorkflow(request));

    assertThat(detail.getMessage()).contains(field);
    assertThat(detail.getSubjectId()).isEqualTo(field);
    assertThat(detail.getNonRetryable()).isTrue();
    assertThat(runsOf(request.getWorkflowType())).isZero();
  }

  @ParameterizedTest
  @MethodSource("startFields")
  void each_start_of_a_bulk_with_an_unimplemented_field_is_refused(String field) {
    StartWorkflowsResponse response =
        server
            .workflows()
            .startWorkflows(StartWorkflowsRequest.newBuilder().addStarts(with(field)).build());

    assertThat(response.getResults(0).getRefused().getMessage()).contains(field);
    assertThat(response.getResults(0).getRefused().getMetadataMap())
        .containsEntry("status", "UNIMPLEMENTED");
  }

  @Test
  void a_start_with_a_field_of_a_later_protocol_is_refused() {
    UnknownFieldSet later =
        UnknownFieldSet.newBuilder()
            .addField(199, UnknownFieldSet.Field.newBuilder().addVarint(1).build())
            .build();

    ErrorDetail detail =
        CallErrors.refused(
            Status.Code.UNIMPLEMENTED,
            () ->
                server
                    .workflows()
                    .startWorkflow(TestServer.start("q", "later").setUnknownFields(later).build()));

    assertThat(detail.getMessage()).contains("199");
  }

  @Test
  void list_filters_that_are_no_ids_are_refused_by_their_names() {
    ErrorDetail parent =
        CallErrors.refused(
            Status.Code.INVALID_ARGUMENT,
            () ->
                server
                    .workflows()
                    .listWorkflows(ListWorkflowsRequest.newBuilder().setParentRunId("x").build()));
    ErrorDetail schedule =
        CallErrors.refused(
            Status.Code.INVALID_ARGUMENT,
            () ->
                server
                    .workflows()
                    .listWorkflows(ListWorkflowsRequest.newBuilder().setScheduleId("x").build()));

    assertThat(parent.getMessage()).contains("parent_run_id");
    assertThat(schedule.getMessage()).contains("schedule_id");
  }

  private static StartWorkflowRequest with(String name) {
    StartWorkflowRequest.Builder request = TestServer.start("q", "refused-" + name);
    FieldDescriptor field = StartWorkflowRequest.getDescriptor().findFieldByName(name);
    return switch (field.getJavaType()) {
      case LONG -> request.setField(field, 5_000L).build();
      case INT -> request.setField(field, 1).build();
      case STRING -> request.setField(field, UUID.randomUUID().toString()).build();
      case ENUM -> request.setField(field, field.getEnumType().findValueByNumber(2)).build();
      case MESSAGE ->
          request
              .setField(field, Timestamp.newBuilder().setSeconds(4_000_000_000L).build())
              .build();
      default -> throw new AssertionError(field);
    };
  }

  private static int runsOf(String type) {
    return server
        .workflows()
        .listWorkflows(ListWorkflowsRequest.newBuilder().setWorkflowType(type).build())
        .getWorkflowsCount();
  }
}
