package dev.kagzi.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@SuppressWarnings("try") // the workers work while they are open
class RemoteCommandsTest extends ServedCommandTest {

  private static final WorkflowType<Integer, Integer> DOUBLE =
      WorkflowType.of("double", Integer.class, Integer.class).queue("numbers");

  private static Worker worker() {
    return kagzi
        .worker()
        .workflow(
            DOUBLE,
            (ctx, number) ->
                ctx.step(
                    "double",
                    Integer.class,
                    () -> {
                      if (number < 0) {
                        throw new NonRetryableException("negative");
                      }
                      return 2 * number;
                    }))
        .start();
  }

  @Test
  void a_run_is_started_its_result_awaited_and_its_steps_listed() {
    try (Worker worker = worker()) {
      assertThat(workflow("start", "double", "--queue", "numbers", "--input", "21")).isZero();
      String run = out.toString().strip();
      assertThat(run).hasSize(36);

      assertThat(workflow("result", run)).isZero();
      assertThat(out.toString().strip()).isEqualTo("42");

      assertThat(workflow("result", run, "-o", "json")).isZero();
      assertThat(json().at("/runId").asString()).isEqualTo(run);
      assertThat(json().at("/status").asString()).isEqualTo("COMPLETED");
      assertThat(json().at("/output").asInt()).isEqualTo(42);

      assertThat(workflow("steps", run, "-o", "json")).isZero();
      assertThat(json().at("/steps/0/name").asString()).isEqualTo("double");
      assertThat(json().at("/steps/0/status").asString()).isEqualTo("COMPLETED");
      assertThat(json().at("/nextPageToken").asString()).isEmpty();
    }
  }

  @Test
  void a_run_that_did_not_complete_has_no_result_and_shows_why() {
    try (Worker worker = worker()) {
      assertThat(workflow("start", "double", "--queue", "numbers", "--input", "-1")).isZero();
      String run = out.toString().strip();

      assertThat(workflow("result", run)).isEqualTo(5);

      assertThat(out.toString()).isEmpty();
      assertThat(err.toString())
          .startsWith("kagzi: run " + run + " ended as FAILED")
          .contains("negative")
          .hasLineCount(1);
    }
    RunHandle<String> waiting = kagzi.workflow(NOBODY_SERVES).start("Ada");
    assertThat(workflow("result", waiting.runId(), "--timeout", "10ms")).isEqualTo(5);
    assertThat(err.toString()).contains("PENDING after 10ms");
    assertThat(workflow("result", waiting.runId(), "--timeout", "soon")).isEqualTo(2);
  }

  @Test
  void a_start_with_an_id_can_be_repeated(@TempDir Path folder) throws IOException {
    Path input = Files.writeString(folder.resolve("input.json"), "{\"name\": \"Ada\"}");
    String[] start = {"start", "later", "--queue", "q", "--id", "l-1", "--input", "@" + input};

    assertThat(workflow(start)).isZero();
    String run = out.toString().strip();
    assertThat(err.toString()).isEmpty();
    assertThat(workflow(start)).isZero();
    assertThat(out.toString().strip()).isEqualTo(run);
    assertThat(err.toString()).contains("already exists");
    assertThat(workflow("start", "other", "--queue", "q", "--id", "l-1")).isEqualTo(1);
    assertThat(err.toString()).contains("of type later (expected: one of type other, or none)");

    assertThat(workflow("get", "l-1", "-o", "json")).isZero();
    assertThat(json().at("/externalId").asString()).isEqualTo("l-1");
    assertThat(json().at("/taskQueue").asString()).isEqualTo("q");
    assertThat(json().at("/workflowType").asString()).isEqualTo("later");
    assertThat(json().at("/input/name").asString()).isEqualTo("Ada");
  }

  @Test
  void a_list_of_an_unknown_namespace_is_an_error_and_not_empty() {
    assertThat(workflow("list", "--namespace", "nope")).isEqualTo(3);
    assertThat(err.toString()).contains("nope");
    assertThat(out.toString()).isEmpty();
  }

  @Test
  void a_run_is_found_by_its_external_id_even_if_that_looks_like_a_run_id() {
    String order = UUID.randomUUID().toString();
    assertThat(workflow("start", "later", "--queue", "q", "--id", order)).isZero();
    String run = out.toString().strip();

    assertThat(workflow("get", order, "-o", "json")).isZero();
    assertThat(json().at("/runId").asString()).isEqualTo(run);
    assertThat(workflow("steps", order)).isZero();
    assertThat(workflow("cancel", order)).isZero();
    assertThat(workflow("get", UUID.randomUUID().toString())).isEqualTo(3);
    assertThat(err.toString())
        .startsWith("kagzi: run not found in namespace default: ")
        .contains("--namespace NAME searches another one", "`kagzi namespace list`")
        .hasLineCount(1);
  }

  @Test
  void numbers_of_a_payload_keep_all_their_digits() {
    String input = "{\"price\": 12345678901234567.89, \"rate\": 1.50}";
    assertThat(workflow("start", "later", "--queue", "q", "--input", input)).isZero();

    assertThat(workflow("get", out.toString().strip(), "-o", "json")).isZero();

    assertThat(out.toString()).contains("12345678901234567.89", "1.50");
  }

  @Test
  void a_server_without_tls_is_not_reported_as_unreachable() {
    assertThat(workflow("list", "--tls")).isEqualTo(4);

    assertThat(err.toString()).contains("(expected: a server with TLS").hasLineCount(1);
  }

  @Test
  void an_invalid_start_is_wrong_usage() {
    assertThat(workflow("start", "double")).isEqualTo(2);
    assertThat(err.toString()).contains("--queue");
    assertThat(workflow("start", "double", "--queue", "q", "--input", "{a")).isEqualTo(2);
    assertThat(err.toString()).startsWith("kagzi: --input: {a (expected: JSON").hasLineCount(1);
    assertThat(workflow("start", "double", "--queue", "q", "--input", "1 2")).isEqualTo(2);
    assertThat(workflow("start", "double", "--queue", "q", "--input", "@/no/such")).isEqualTo(2);
    assertThat(workflow("start", "double", "--queue", "q", "--id", "")).isEqualTo(2);
    assertThat(workflow("start", "", "--queue", "q")).isEqualTo(1);
    assertThat(err.toString()).startsWith("kagzi: workflow_type: ").hasLineCount(1);
  }

  @Test
  void a_list_is_one_document_with_the_token_of_the_next_page() {
    for (int i = 0; i < 3; i++) {
      assertThat(workflow("start", "listed", "--queue", "l")).isZero();
    }
    String[] list = {"list", "--type", "listed", "--queue", "l", "--status", "pending"};

    assertThat(workflow(with(list, "--limit", "2", "-o", "json"))).isZero();
    assertThat(json().at("/workflows").size()).isEqualTo(2);
    assertThat(json().at("/workflows/0/status").asString()).isEqualTo("PENDING");
    assertThat(json().at("/workflows/0/createdAt").asString()).endsWith("Z");
    String next = json().at("/nextPageToken").asString();

    assertThat(workflow(with(list, "--page-token", next, "-o", "json"))).isZero();
    assertThat(json().at("/workflows").size()).isEqualTo(1);
    assertThat(json().at("/nextPageToken").asString()).isEmpty();

    assertThat(workflow("list", "--type", "none-such", "-o", "json")).isZero();
    assertThat(json().at("/workflows").isArray()).isTrue();
    assertThat(workflow("list", "--page-token", "rubbish")).isEqualTo(1);
    assertThat(err.toString()).contains("page_token").hasLineCount(1);
  }

  @Test
  void server_options_may_follow_any_word_and_the_last_one_wins() {
    String list = "list";
    assertThat(execute("--address", address(), "workflow", list)).isZero();
    assertThat(execute("workflow", "--address", address(), list, "-o", "json")).isZero();
    assertThat(json().has("workflows")).isTrue();
    assertThat(execute("-o", "json", "workflow", list, "--address", address())).isZero();
    assertThat(json().has("workflows")).isTrue();
    assertThat(execute("--address", "127.0.0.1:1", "workflow", list, "--address", address()))
        .isZero();
    assertThat(execute("--address", "nowhere", "workflow", list)).isEqualTo(2);
    assertThat(err.toString()).contains("--address: nowhere (expected: HOST:PORT");
    assertThat(execute("workflow", list, "--address", "h:99999")).isEqualTo(2);
  }

  @Test
  void of_several_servers_the_first_that_answers_is_used() {
    assertThat(execute("workflow", "list", "--address", "127.0.0.1:1," + address())).isZero();
    assertThat(execute("workflow", "list", "--address", address() + ",127.0.0.1:1")).isZero();

    assertThat(execute("health", "--address", "127.0.0.1:1,127.0.0.1:2")).isEqualTo(4);
    assertThat(err.toString())
        .startsWith("kagzi: server: 127.0.0.1:1,127.0.0.1:2 does not answer")
        .hasLineCount(1);
    for (String wrong : List.of(address() + ",", "," + address(), address() + ",b", ",")) {
      assertThat(execute("health", "--address", wrong)).as(wrong).isEqualTo(2);
      assertThat(err.toString()).startsWith("kagzi: --address: " + wrong + " (expected: HOST:PORT");
    }
  }

  @Test
  void a_namespace_may_be_called_like_a_command() {
    assertThat(kagzi("namespace", "create", "worker")).isZero();

    assertThat(workflow("start", "t", "--queue", "q", "--namespace", "worker")).isZero();
    assertThat(execute("--namespace", "worker", "workflow", "list", "--address", address()))
        .isZero();
    assertThat(out.toString().lines()).hasSize(2);
    assertThat(execute("workflow", "--namespace", "worker", "list", "--address", address()))
        .isZero();
    assertThat(out.toString().lines()).hasSize(2);
  }

  @Test
  void namespaces_are_created_changed_and_shown() {
    assertThat(kagzi("namespace", "create", "team", "--description", "ours")).isZero();
    assertThat(out.toString().lines()).anyMatch(line -> line.matches("namespace +team"));
    assertThat(kagzi("namespace", "create", "team")).isEqualTo(1);
    assertThat(err.toString()).contains("team").hasLineCount(1);

    assertThat(kagzi("namespace", "update", "team", "--retention", "7d", "-o", "json")).isZero();
    assertThat(json().at("/retentionMs").asLong()).isEqualTo(7L * 86_400_000);
    assertThat(json().at("/description").asString()).isEqualTo("ours");
    assertThat(kagzi("namespace", "update", "team", "--retention", "default", "-o", "json"))
        .isZero();
    assertThat(json().has("retentionMs")).isFalse();

    assertThat(kagzi("namespace", "disable", "team", "-o", "json")).isZero();
    assertThat(json().at("/enabled").asBoolean()).isFalse();
    assertThat(workflow("start", "t", "--queue", "q", "--namespace", "team")).isEqualTo(1);
    assertThat(kagzi("namespace", "enable", "team")).isZero();
    assertThat(workflow("start", "t", "--queue", "q", "--namespace", "team")).isZero();

    assertThat(kagzi("namespace", "list", "-o", "json")).isZero();
    assertThat(json().at("/namespaces").findValuesAsString("namespace"))
        .contains("default", "team");
    assertThat(kagzi("namespace", "get", "nobody")).isEqualTo(3);
    assertThat(kagzi("namespace", "update", "team", "--retention", "x")).isEqualTo(2);
  }

  @Test
  void workers_are_listed_and_drained() {
    String drained;
    try (Worker worker = worker()) {
      // A worker that has completed a run is registered.
      assertThat(kagzi.workflow(DOUBLE).start(1).result(SOON)).isEqualTo(2);
      assertThat(kagzi("worker", "list", "--queue", "numbers", "--status", "online", "-o", "json"))
          .isZero();
      String id = json().at("/workers/0/workerId").asString();
      assertThat(json().at("/workers/0/status").asString()).isEqualTo("ONLINE");
      assertThat(json().at("/workers/0/totalFailed").isNumber()).isTrue();
      assertThat(kagzi("worker", "list")).isZero();
      assertThat(out.toString()).contains(id, "double", "ONLINE");

      assertThat(kagzi("worker", "drain", id, "--namespace", "other")).isEqualTo(3);
      assertThat(kagzi("worker", "drain", id)).isZero();
      assertThat(out.toString()).contains("takes no new work");
      drained = id;
    }
    assertThat(kagzi("worker", "list", "--queue", "numbers")).isZero();
    assertThat(out.toString()).doesNotContain(drained, "OFFLINE");
    assertThat(err.toString())
        .contains("kagzi: no workers online")
        .containsPattern("there are also .*\\d+ offline: --all shows them");
    assertThat(kagzi("worker", "list", "--queue", "numbers", "--all")).isZero();
    assertThat(out.toString()).contains(drained, "OFFLINE");
    assertThat(err.toString()).isEmpty();
    assertThat(kagzi("worker", "list", "--queue", "numbers", "-o", "json")).isZero();
    assertThat(out.toString()).contains(drained);
    assertThat(err.toString()).isEmpty();
    assertThat(kagzi("worker", "list", "--all", "--status", "online")).isEqualTo(2);
    assertThat(kagzi("worker", "drain", drained)).isEqualTo(1);
    assertThat(err.toString())
        .isEqualToIgnoringNewLines("kagzi: worker " + drained + ": the worker is offline already");
    assertThat(kagzi("worker", "drain", "00000000-0000-0000-0000-000000000001")).isEqualTo(3);
    assertThat(kagzi("worker", "drain", "rubbish")).isEqualTo(1);
  }

  @Test
  void health_shows_whether_the_server_is_ready() {
    assertThat(kagzi("health")).isZero();
    assertThat(out.toString()).contains("SERVING", "database");

    assertThat(kagzi("health", "-o", "json")).isZero();
    assertThat(json().at("/status").asString()).isEqualTo("SERVING");
    assertThat(json().at("/health/database/status").asString()).isEqualTo("HEALTHY");
    assertThat(json().at("/health/database/latencyMs").isNumber()).isTrue();
    assertThat(json().at("/health/unhealthyWorkers").isNumber()).isTrue();
    assertThat(json().at("/health/workers").isArray()).isTrue();
    assertThat(execute("health", "--address", "127.0.0.1:1")).isEqualTo(4);
  }

  @Test
  void version_shows_the_version_of_the_given_server() {
    assertThat(kagzi("version", "-o", "json")).isZero();

    assertThat(json().at("/server/apiVersion").asString()).isEqualTo("kagzi.v1");
  }

  private static String[] with(String[] words, String... more) {
    String[] all = Arrays.copyOf(words, words.length + more.length);
    System.arraycopy(more, 0, all, words.length, more.length);
    return all;
  }
}
