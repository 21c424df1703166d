package dev.kagzi.sdk.internal.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import com.google.protobuf.Timestamp;
import dev.kagzi.protocol.v1.ErrorCode;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.protocol.v1.RetryPolicy;
import dev.kagzi.protocol.v1.Step;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.protocol.v1.StepStatus;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.protocol.v1.WorkflowOrigin;
import dev.kagzi.protocol.v1.WorkflowStatus;
import dev.kagzi.sdk.InvalidArgumentException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class HistoryFileTest {
  private static final Timestamp TIME =
      Timestamp.newBuilder().setSeconds(1_772_366_400).setNanos(123_456_000).build();

  private static final Workflow RUN =
      Workflow.newBuilder()
          .setNamespace("shop")
          .setRunId("0198c0de-0000-7000-8000-000000000001")
          .setWorkflowType("order")
          .setStatus(WorkflowStatus.WORKFLOW_STATUS_FAILED)
          .setOrigin(WorkflowOrigin.WORKFLOW_ORIGIN_CLIENT)
          .setAttempts(2)
          .setPriority(0)
          .setTimeoutMs(5_000_000_000L)
          .setCreatedAt(TIME)
          .setInput(json("{\"item\":\"lamp\"}"))
          .setError(
              ErrorDetail.newBuilder()
                  .setCode(ErrorCode.ERROR_CODE_TIMEOUT)
                  .setMessage("100 % \"late\"\n")
                  .putMetadata("type", "T"))
          .setRetryPolicy(
              RetryPolicy.newBuilder()
                  .setBackoffCoefficient(1.5)
                  .setJitter(0)
                  .addNonRetryableErrors("a")
                  .addNonRetryableErrors("b"))
          .build();

  private static Payload json(String text) {
    return Payload.newBuilder().setData(ByteString.copyFromUtf8(text)).build();
  }

  private static Step step(Payload output) {
    return Step.newBuilder()
        .setNamespace("shop")
        .setRunId(RUN.getRunId())
        .setStepKey("pack[0]/weigh#2")
        .setName("weigh")
        .setKind(StepKind.STEP_KIND_FUNCTION)
        .setStatus(StepStatus.STEP_STATUS_COMPLETED)
        .setAttemptNumber(3)
        .setRunAttempt(2)
        .setFinal(true)
        .setInputHash("ab12")
        .setCreatedAt(TIME)
        .setDueAt(TIME)
        .setOutput(output)
        .setProgress(json("7"))
        .build();
  }

  @Test
  void a_written_history_is_read_without_loss() {
    HistoryFile file =
        new HistoryFile(
            RUN,
            List.of(
                step(json("[1,2]")),
                step(
                    Payload.newBuilder()
                        .setData(ByteString.copyFrom(new byte[] {0, -1, 7}))
                        .putMetadata("encoding", "aes-gcm")
                        .build()),
                step(Payload.newBuilder().putMetadata("encoding", "none").build())));

    assertThat(HistoryFile.parse(file.json())).isEqualTo(file);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "null",
        "\"é\\u0000\"",
        "\"\\u00e9\"",
        "1.0",
        "1.10",
        "1e3",
        "0.1000000000000000055511151231257827",
        "123456789012345678901234567890",
        "{ \"a\" : 1 }",
        "{\"a\":1,\"a\":2}",
        "{\"b\":1,\"a\":{}}",
        "1 2",
        "{",
        "plain"
      })
  void payloads_keep_their_bytes_whether_they_are_json_or_not(String text) {
    HistoryFile file = new HistoryFile(RUN, List.of(step(json(text))));

    assertThat(HistoryFile.parse(file.json())).isEqualTo(file);
  }

  @Test
  void the_document_is_readable_json() {
    HistoryFile file = new HistoryFile(RUN, List.of(step(json("{\"kg\":1.5}"))));

    JsonNode json = JsonMapper.builder().build().readTree(file.json());

    assertThat(json.at("/format").asString()).isEqualTo("kagzi-history/1");
    assertThat(json.at("/run/status").asString()).isEqualTo("FAILED");
    assertThat(json.at("/run/createdAt").asString()).isEqualTo("2026-03-01T12:00:00.123456Z");
    assertThat(json.at("/run/input/json/item").asString()).isEqualTo("lamp");
    assertThat(json.at("/steps/0/stepKey").asString()).isEqualTo("pack[0]/weigh#2");
    assertThat(json.at("/steps/0/kind").asString()).isEqualTo("FUNCTION");
    assertThat(json.at("/steps/0/output/json/kg").asDouble()).isEqualTo(1.5);
    assertThat(json.at("/steps/0").has("runId")).isFalse();
  }

  @Test
  void unknown_fields_of_later_versions_are_ignored() {
    String later =
        new HistoryFile(RUN, List.of())
            .json()
            .replace("\"attempts\"", "\"colour\" : \"red\", \"attempts\"");

    assertThat(HistoryFile.parse(later).run()).isEqualTo(RUN);
  }

  @Test
  void other_documents_are_rejected_with_the_expected_form() {
    String good = new HistoryFile(RUN, List.of(step(json("1")))).json();

    assertRefused("lamp", "not JSON");
    assertRefused("[]", "no format (expected: \"format\": \"kagzi-history/1\")");
    assertRefused("{\"format\": \"kagzi-history/1\"}", "run: missing (expected: an object)");
    assertRefused(
        good.replace("kagzi-history/1", "kagzi-history/9"),
        "format: kagzi-history/9 (expected: kagzi-history/1; is it from a newer version?)");
    assertRefused(
        good.replace("\"COMPLETED\"", "\"DONE\""), "steps[0].status: DONE (expected: one of [");
    assertRefused(
        good.replace("2026-03-01T12:00:00.123456Z", "noon"),
        "run.createdAt: noon (expected: a time such as");
    assertRefused(
        good.replace("\"attempts\" : 2", "\"attempts\" : \"two\""),
        "run.attempts: string (expected: a number)");
  }

  private static void assertRefused(String text, String message) {
    assertThatThrownBy(() -> HistoryFile.parse(text))
        .isInstanceOfSatisfying(
            InvalidArgumentException.class,
            e -> assertThat(e.code()).isEqualTo("HISTORY_UNREADABLE"))
        .hasMessageContaining("history: " + message);
  }
}
