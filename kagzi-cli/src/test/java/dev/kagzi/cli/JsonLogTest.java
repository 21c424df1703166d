package dev.kagzi.cli;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.util.LogbackMDCAdapter;
import ch.qos.logback.core.AppenderBase;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code log-format=json}: one JSON object per line. */
@Timeout(120)
class JsonLogTest {
  private static final JsonMapper JSON = new JsonMapper();

  private final LoggerContext context = new LoggerContext();
  private final Logger log = context.getLogger("dev.kagzi.Example");
  private final List<String> lines = new ArrayList<>();

  @BeforeEach
  void open() {
    context.setMDCAdapter(new LogbackMDCAdapter());
    JsonLogEncoder encoder = new JsonLogEncoder();
    encoder.setContext(context);
    encoder.start();
    AppenderBase<ILoggingEvent> appender =
        new AppenderBase<>() {
          @Override
          protected void append(ILoggingEvent event) {
            lines.add(new String(encoder.encode(event), StandardCharsets.UTF_8));
          }
        };
    appender.setContext(context);
    appender.start();
    log.setLevel(Level.DEBUG);
    log.addAppender(appender);
  }

  @AfterEach
  void close() {
    context.stop();
  }

  private JsonNode only() {
    assertThat(lines).singleElement().asString().endsWith("}\n");
    assertThat(lines.getFirst().strip()).doesNotContain("\n");
    return JSON.readTree(lines.getFirst());
  }

  @Test
  void a_line_has_its_message_and_its_key_values_as_properties() {
    log.atWarn()
        .addKeyValue("run", "0189")
        .addKeyValue("claims", 3)
        .addKeyValue("worker", (Object) null)
        .log("claims \"released\"\nof {}", "a worker");

    JsonNode line = only();
    assertThat(Instant.parse(line.get("time").asString()))
        .isBetween(Instant.now().minusSeconds(60), Instant.now().plusSeconds(60));
    assertThat(line.get("level").asString()).isEqualTo("WARN");
    assertThat(line.get("logger").asString()).isEqualTo("dev.kagzi.Example");
    assertThat(line.get("thread").asString()).isEqualTo(Thread.currentThread().getName());
    assertThat(line.get("message").asString()).isEqualTo("claims \"released\"\nof a worker");
    assertThat(line.get("run").asString()).isEqualTo("0189");
    assertThat(line.get("claims").asInt()).isEqualTo(3);
    assertThat(line.get("worker").isNull()).isTrue();
    assertThat(line.has("stack")).isFalse();
  }

  @Test
  void the_mdc_is_in_the_line_such_as_the_trace_id() {
    context.getMDCAdapter().put("trace_id", "4bf92f3577b34da6");
    log.atInfo().addKeyValue("run", "of the line").log("done");
    context.getMDCAdapter().clear();

    assertThat(only().get("trace_id").asString()).isEqualTo("4bf92f3577b34da6");
  }

  @Test
  void an_exception_is_in_the_line_with_its_stack_and_causes() {
    log.atError()
        .setCause(new IllegalStateException("outer", new RuntimeException("inner")))
        .log("x");

    assertThat(only().get("stack").asString())
        .contains("IllegalStateException: outer", "at dev.kagzi.cli.JsonLogTest", "Caused by")
        .contains("inner");
  }

  @Test
  void a_key_value_does_not_replace_a_property_of_the_line() {
    log.atInfo().addKeyValue("message", "other").addKeyValue("stack", 1).log("mine");

    JsonNode line = only();
    assertThat(line.get("message").asString()).isEqualTo("mine");
    assertThat(line.get("kv_message").asString()).isEqualTo("other");
    assertThat(line.get("kv_stack").asInt()).isEqualTo(1);
  }

  @Test
  void dev_writes_its_log_as_json_from_its_start_to_its_end(@TempDir Path folder) throws Exception {
    try (DevProcess dev =
        DevProcess.start(folder, "--port", "0", "--demo", "--log-format", "json")) {
      Awaitility.await()
          .atMost(Duration.ofSeconds(60))
          .until(() -> dev.errors().contains("worker registered"));
      dev.terminate();
      assertThat(dev.awaitExit()).isZero();

      List<JsonNode> all = dev.errors().lines().map(JSON::readTree).toList();

      assertThat(all)
          .allSatisfy(
              line ->
                  assertThat(line.propertyNames())
                      .contains("time", "level", "logger", "thread", "message"));
      assertThat(all)
          .extracting(line -> line.get("message").asString())
          .contains("server is ready");
      assertThat(all)
          .filteredOn(line -> line.get("message").asString().equals("worker registered"))
          .anySatisfy(
              line -> assertThat(line.propertyNames()).contains("worker", "namespace", "queue"));
    }
  }
}
