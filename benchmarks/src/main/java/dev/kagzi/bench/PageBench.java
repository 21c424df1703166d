package dev.kagzi.bench;

import dev.kagzi.engine.config.DatabaseConfig;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Measures how long the server takes for each page of the dashboard, on a database with many ended
 * and some open runs, and how many cores ten browsers cost that show a live page.
 */
@SuppressWarnings("InlineFormatString") // Statements are constants.
final class PageBench {
  static final int RUNS_DEFAULT = 1_000_000;

  private static final int OPEN_RUNS = 10_000;
  private static final int PART = 50_000;
  private static final int CALLS = 50;
  private static final int VIEWERS = 10;
  private static final double TARGET_MS = 200;
  private static final double TARGET_CORES = 0.02;
  private static final Duration MEASURED = Duration.ofSeconds(20);

  private static final String RUN_WITH_STEPS = "00000000-0000-7000-8000-000000000001";

  /** Names of the figures, and the pages that they are about. */
  private static final Map<String, String> PAGES = new LinkedHashMap<>();

  static {
    PAGES.put("overview", "/");
    PAGES.put("runs", "/runs");
    PAGES.put("runs_failed", "/runs?status=FAILED");
    PAGES.put("runs_waiting", "/runs?status=PENDING&queue=q1");
    PAGES.put("runs_of_type", "/runs?type=type-3");
    PAGES.put("runs_of_rare_type", "/runs?type=rare");
    PAGES.put("run", "/runs/" + RUN_WITH_STEPS);
    PAGES.put("runs_since", "/runs?after=2020-01-01T00:00");
    PAGES.put("runs_by_id", "/runs?id=order-777");
    PAGES.put("queues", "/queues");
    PAGES.put("queue", "/queues/queue?queue=q1");
    PAGES.put("types", "/types");
    PAGES.put("type", "/types/type?type=type-3");
    PAGES.put("start", "/start");
    PAGES.put("schedules", "/schedules");
    PAGES.put("workers", "/workers");
    PAGES.put("namespaces", "/namespaces");
  }

  // One of 50 failed. The newest ended just now, the oldest a month ago.
  private static final String ENDED =
      """
      INSERT INTO kagzi.workflow_runs
             (run_id, namespace, external_id, ended, task_queue, workflow_type, status, created_at,
              started_at, finished_at)
      SELECT id, 'default', 'order-' || i, id, 'q' || i %% 5, 'type-' || i %% 20,
             CASE WHEN i %% 50 = 0 THEN 'FAILED' ELSE 'COMPLETED' END, at, at, at
        FROM (SELECT i, md5('run' || i)::uuid AS id, now() - i * interval '30 days' / %d AS at
                FROM generate_series(%d, %d) i) g
      """;

  private static final String PAYLOADS =
      """
      INSERT INTO kagzi.workflow_payloads (run_id, kind, data, created_at)
      SELECT md5('run' || i)::uuid, 'INPUT', '{"item": "lamp"}', now()
        FROM generate_series(%d, %d) i
      """;

  private static final String OPEN =
      """
      INSERT INTO kagzi.workflow_runs
             (run_id, namespace, ended, task_queue, workflow_type, status, created_at,
              available_at)
      SELECT md5('open' || i)::uuid, 'default', '00000000-0000-0000-0000-000000000000',
             'q' || i %% 5, 'type-' || i %% 20, 'PENDING', now(), now()
        FROM generate_series(1, %d) i
      """;

  // A type whose only runs are the oldest ones, so that a list of it finds nothing newer.
  private static final String RARE =
      """
      UPDATE kagzi.workflow_runs SET workflow_type = 'rare'
       WHERE namespace = 'default' AND created_at < now() - interval '30 days' + interval '10 s'
      """;

  private static final String STEPS =
      """
      INSERT INTO kagzi.workflow_runs
             (run_id, namespace, ended, task_queue, workflow_type, status, created_at,
              available_at)
      VALUES ('%1$s', 'default', '00000000-0000-0000-0000-000000000000', 'q1', 'type-1', 'PENDING',
              now(), now());
      INSERT INTO kagzi.step_runs
             (run_id, step_id, attempt, epoch, run_attempt, kind, status, output, created_at,
              started_at, finished_at)
      SELECT '%1$s', 'step#' || i, 1, 1, 1, 'FUNCTION', 'COMPLETED', '{"item": "lamp"}',
             now() + i * interval '1 ms', now() + i * interval '1 ms', now() + i * interval '2 ms'
        FROM generate_series(1, 1000) i
      """;

  private static final String COUNTS =
      """
      INSERT INTO kagzi.run_counts (namespace, workflow_type, task_queue, version, status, runs)
      SELECT namespace, workflow_type, task_queue, version, status, count(*)
        FROM kagzi.workflow_runs
       GROUP BY namespace, workflow_type, task_queue, version, status
      """;

  private static final String RATES =
      """
      INSERT INTO kagzi.run_rates
             (namespace, minute, workflow_type, task_queue, started, completed, failed, cancelled)
      SELECT 'default', date_trunc('minute', now()) - m * interval '1 minute', 'type-' || t,
             'q' || t % 5, 60, 55, 2, 0
        FROM generate_series(0, 119) m, generate_series(0, 19) t
      """;

  private final KagziContender contender;
  private final Progress progress;
  private final int ended;
  private final String address;

  PageBench(KagziContender contender, Progress progress, int ended) {
    this.contender = contender;
    this.progress = progress;
    this.ended = ended;
    this.address = "http://127.0.0.1:" + contender.server().httpPort();
  }

  Map<String, @Nullable Object> measure() {
    Map<String, @Nullable Object> figures = new LinkedHashMap<>();
    figures.put("scenario", Scenario.PAGES.name());
    figures.put("ended_runs", ended);
    figures.put("open_runs", OPEN_RUNS);
    print("inserting " + ended + " ended and " + OPEN_RUNS + " open runs");
    fill();
    contender.database().vacuum();
    try (HttpClient http = HttpClient.newHttpClient()) {
      measurePages(http, figures);
      measureViewers(http, figures);
    } catch (IOException e) {
      throw new BenchException("a page was not served: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BenchException("interrupted", e);
    }
    return figures;
  }

  private void fill() {
    DatabaseConfig config = contender.database().config();
    try (Connection connection =
            DriverManager.getConnection(config.jdbcUrl(), config.user(), config.password());
        Statement statement = connection.createStatement()) {
      for (int from = 1; from <= ended; from += PART) {
        int to = Math.min(ended, from + PART - 1);
        statement.execute(ENDED.formatted(ended, from, to));
        statement.execute(PAYLOADS.formatted(from, to));
      }
      statement.execute(OPEN.formatted(OPEN_RUNS));
      statement.execute(RARE);
      statement.execute(STEPS.formatted(RUN_WITH_STEPS));
      statement.execute(COUNTS);
      statement.execute(RATES);
    } catch (SQLException e) {
      throw new BenchException("the database: " + e.getMessage(), e);
    }
  }

  private void measurePages(HttpClient http, Map<String, @Nullable Object> figures)
      throws IOException, InterruptedException {
    figures.put("page_target_ms", TARGET_MS);
    for (Map.Entry<String, String> page : PAGES.entrySet()) {
      print(page.getValue());
      double[] ms = new double[CALLS];
      for (int i = -CALLS; i < CALLS; i++) {
        long began = System.nanoTime();
        get(http, page.getValue());
        if (i >= 0) {
          ms[i] = (System.nanoTime() - began) / 1e6;
        }
      }
      Arrays.sort(ms);
      figures.put(page.getKey() + "_p50_ms", Figures.rounded(ms[CALLS / 2]));
      figures.put(page.getKey() + "_max_ms", Figures.rounded(ms[CALLS - 1]));
    }
  }

  private void get(HttpClient http, String path) throws IOException, InterruptedException {
    HttpResponse<Void> response = http.send(request(path), BodyHandlers.discarding());
    if (response.statusCode() != 200) {
      throw new BenchException(path + ": status " + response.statusCode() + " (expected: 200)");
    }
  }

  private HttpRequest request(String path) {
    return HttpRequest.newBuilder(URI.create(address + path)).header("Accept", "text/html").build();
  }

  private void measureViewers(HttpClient http, Map<String, @Nullable Object> figures)
      throws IOException, InterruptedException {
    print("no browser");
    double idle = cores();
    print(VIEWERS + " browsers that show the overview");
    List<InputStream> streams = new ArrayList<>();
    try {
      for (int i = 0; i < VIEWERS; i++) {
        InputStream stream =
            http.send(request("/live/overview"), BodyHandlers.ofInputStream()).body();
        streams.add(stream);
        Thread.ofVirtual().start(() -> drain(stream));
      }
      double watched = cores();
      figures.put("idle_cores", Figures.rounded(idle));
      figures.put("ten_browsers_cores", Figures.rounded(watched));
      figures.put("ten_browsers_cost_cores", Figures.rounded(watched - idle));
      figures.put("cost_target_cores", TARGET_CORES);
    } finally {
      for (InputStream stream : streams) {
        stream.close();
      }
    }
  }

  private static void drain(InputStream stream) {
    try {
      stream.transferTo(java.io.OutputStream.nullOutputStream());
    } catch (IOException closed) {
      // The measurement is over.
    }
  }

  /** The cores that server and PostgreSQL use. */
  private double cores() {
    CpuWatch watch = new CpuWatch(contender);
    long untilNanos = System.nanoTime() + MEASURED.toNanos();
    for (long left = MEASURED.toNanos(); left > 0; left = untilNanos - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
    CpuWatch.Cores cores = watch.cores();
    return cores.server().orElse(0) + cores.postgres().orElse(0);
  }

  private void print(String text) {
    progress.print(contender.name() + " " + Scenario.PAGES + ": " + text);
  }
}
