package dev.kagzi.sdk.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.Worker;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** What a client and its workers measure in the application's registry. */
class MetricsTest extends RealServerTest {
  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

  private Kagzi measured() {
    return Kagzi.builder().address(server.address()).meterRegistry(registry).connect();
  }

  private Tags ofType(String... tags) {
    return Tags.of("namespace", "default", "type", type.name()).and(tags);
  }

  private double slots(String state) {
    return registry
        .get("kagzi.worker.slots")
        .tags("namespace", "default", "queue", queue, "state", state)
        .gauge()
        .value();
  }

  private double runs(String outcome) {
    return registry
        .get("kagzi.worker.runs")
        .tags(ofType("queue", queue, "outcome", outcome))
        .counter()
        .count();
  }

  @Test
  void runs_steps_slots_and_calls_are_measured() throws Exception {
    CountDownLatch inStep = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    AtomicInteger attempts = new AtomicInteger();
    try (Kagzi kagzi = measured()) {
      kagzi
          .worker()
          .workflow(
              type,
              (ctx, name) ->
                  ctx.step("pay")
                      .retry(Retry.fixed(2, Duration.ofMillis(10)))
                      .run(
                          String.class,
                          () -> {
                            inStep.countDown();
                            goOn.await();
                            if (attempts.incrementAndGet() == 1) {
                              throw new IllegalStateException("again");
                            }
                            return name;
                          }))
          .maxConcurrent(7)
          .start();
      var run = kagzi.workflow(type).start("Ada");
      assertThat(inStep.await(20, TimeUnit.SECONDS)).isTrue();

      assertThat(slots("used")).isEqualTo(1);
      assertThat(slots("free")).isEqualTo(6);
      goOn.countDown();
      assertThat(run.result(SOON)).isEqualTo("Ada");

      Awaitility.await().untilAsserted(() -> assertThat(runs("completed")).isEqualTo(1));
      assertThat(steps("completed").count()).isEqualTo(1);
      assertThat(steps("failed").count()).isEqualTo(1);
      Awaitility.await()
          .untilAsserted(() -> assertThat(calls("WorkerService/Report")).isPositive());
      assertThat(calls("WorkerService/Register")).isEqualTo(1);
      assertThat(
              registry
                  .get("kagzi.worker.stuck")
                  .tags("namespace", "default", "queue", queue)
                  .gauge()
                  .value())
          .isZero();
      assertThat(served()).isEqualTo(documented());
    }
  }

  private Timer steps(String outcome) {
    return registry.get("kagzi.worker.steps").tags(ofType("outcome", outcome)).timer();
  }

  private double calls(String method) {
    Timer timer =
        registry.find("kagzi.client.calls").tags("method", method, "status", "OK").timer();
    return timer == null ? 0 : timer.count();
  }

  /** Names with their types and labels, as the registry writes them for Prometheus. */
  private Set<String> served() {
    String text = registry.scrape();
    return text.lines()
        .filter(line -> line.startsWith("# TYPE "))
        .map(line -> line.split(" ", -1))
        .filter(words -> !words[2].endsWith("_max"))
        .map(words -> words[2] + " " + words[3] + " " + labels(text, words[2]))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static Set<String> labels(String text, String name) {
    return Pattern.compile("(?m)^" + name + "(?:_count)?\\{(.*)\\} ")
        .matcher(text)
        .results()
        .flatMap(
            sample ->
                Pattern.compile("(\\w+)=\"")
                    .matcher(sample.group(1))
                    .results()
                    .map(l -> l.group(1)))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static Set<String> documented() throws Exception {
    String page = Files.readString(Path.of("../docs/metrics.md"));
    String section = page.substring(page.indexOf("## Metrics of a client and its workers"));
    return Pattern.compile("(?m)^\\| `(kagzi_\\w+)` \\| (\\w+) \\| ([^|]+) \\|")
        .matcher(section)
        .results()
        .map(
            row ->
                row.group(1)
                    + " "
                    + row.group(2)
                    + " "
                    + Stream.of(row.group(3).split(", "))
                        .map(label -> label.replace("`", ""))
                        .collect(Collectors.toCollection(TreeSet::new)))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @Test
  void two_workers_of_a_queue_are_shown_as_their_sum_and_one_of_them_after_the_other_has_closed()
      throws Exception {
    try (Kagzi kagzi = measured();
        Kagzi other = measured()) {
      Worker first = kagzi.worker().workflow(type, (ctx, name) -> name).maxConcurrent(3).start();
      other.worker().workflow(type, (ctx, name) -> name).maxConcurrent(5).start();
      assertThat(slots("free")).isEqualTo(8);

      first.close();

      assertThat(slots("free")).isEqualTo(5);
    }
  }

  @Test
  void a_closed_worker_leaves_no_gauge_and_the_next_one_shows_its_own() throws Exception {
    try (Kagzi kagzi = measured()) {
      Worker first = kagzi.worker().workflow(type, (ctx, name) -> name).maxConcurrent(3).start();
      assertThat(slots("free")).isEqualTo(3);
      first.close();

      assertThat(registry.find("kagzi.worker.slots").gauges()).isEmpty();
      kagzi.worker().workflow(type, (ctx, name) -> name).maxConcurrent(5).start();
      assertThat(slots("free")).isEqualTo(5);
    }
  }
}
