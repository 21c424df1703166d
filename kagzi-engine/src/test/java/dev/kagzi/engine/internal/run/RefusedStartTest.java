package dev.kagzi.engine.internal.run;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.TYPE;
import static dev.kagzi.engine.TestEngine.payload;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.CapturedLog;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.internal.db.DatabaseFailureLog;
import dev.kagzi.engine.run.StartOptions;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.run.StartResult;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A start that the database refuses. */
class RefusedStartTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  @Test
  void the_line_about_it_has_the_run_and_the_trace_that_its_headers_name() {
    database.execute(
        """
        CREATE FUNCTION refuse_start() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE check_violation USING MESSAGE = 'planted'; END $$
        """);
    database.execute(
        """
        CREATE TRIGGER planted_start BEFORE INSERT ON kagzi.workflow_runs
           FOR EACH ROW WHEN (NEW.external_id = 'planted') EXECUTE FUNCTION refuse_start()
        """);
    Map<String, String> headers =
        Map.of("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    StartOptions traced = StartOptions.NONE.withHeaders(headers);

    try (TestEngine engine = TestEngine.start(database.config(), "refused");
        CapturedLog log = CapturedLog.of(DatabaseFailureLog.class)) {
      CompletableFuture<StartResult> start =
          engine
              .engine()
              .runs()
              .start(
                  new StartRequest(
                      NAMESPACE, "planted", "refused", TYPE, "", payload("1"), null, null, traced));

      assertThat(start).failsWithin(Duration.ofSeconds(30));
      assertThat(log.lines())
          .singleElement()
          .asString()
          .startsWith("WARN the database refused a value call=StartRun run=")
          .contains(" trace_id=0af7651916cd43dd8448eb211c80319c ");
    }
  }
}
