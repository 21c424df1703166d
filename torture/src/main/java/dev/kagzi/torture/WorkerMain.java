package dev.kagzi.torture;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkerBuilder;
import dev.kagzi.torture.Script.WorkerContext;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;

/**
 * A worker of the fleet, which serves all scenarios. The environment sets the server addresses and
 * the folder of the ledger. Prints a first line when it is registered.
 */
public final class WorkerMain {
  static final String ADDRESSES = "TORTURE_ADDRESSES";
  static final String LEDGERS = "TORTURE_LEDGERS";
  private static final String PROCESS = "TORTURE_PROCESS";
  private static final int RUNS_MAX = 40;
  private static final Duration REGISTER_MAX = Duration.ofSeconds(50);

  private WorkerMain() {}

  public static void main(String[] args) throws IOException, InterruptedException {
    String process = System.getenv(PROCESS);
    ClaimObserver claims = new ClaimObserver();
    Path folder = Path.of(System.getenv(LEDGERS));
    Ledger ledger = Ledger.open(folder, process);
    Kagzi kagzi =
        Kagzi.builder()
            .address(System.getenv(ADDRESSES))
            .callTimeout(Duration.ofSeconds(30))
            .grpcInterceptor(claims)
            .connect();
    Worker worker = start(kagzi, new WorkerContext(process, ledger, claims, Repairs.in(folder)));
    if (!worker.awaitRegistered(REGISTER_MAX)) {
      Runtime.getRuntime().halt(1);
    }
    new PrintStream(System.out, true, StandardCharsets.UTF_8).println("ready");
    while (System.in.read() >= 0) {
      // Nothing is sent. The input ends when the parent process closes it or ends.
    }
    Runtime.getRuntime().halt(0);
  }

  private static Worker start(Kagzi kagzi, WorkerContext context) {
    WorkerBuilder worker = kagzi.worker().maxConcurrent(RUNS_MAX).drainOnShutdown(false);
    for (Scenario scenario : Scenarios.ALL) {
      worker.workflow(scenario.type(), (ctx, input) -> scenario.execute(ctx, input, context));
      if (scenario.has(Scenario.Behavior.CHANGES_DEFAULT)) {
        Scenarios.VERSIONS.forEach(version -> serve(worker, scenario, version, context));
      }
    }
    worker.workflow(
        Scenarios.CHILD, (ctx, input) -> Scenarios.child(Script.begin(ctx, input, context)));
    worker.workflow(
        Scenarios.HANDLER,
        (ctx, event) -> Scenarios.handle(Script.begin(ctx, event, context), event));
    worker.workflow(ScheduledLoad.TYPE, (ctx, input) -> input);
    return worker.start();
  }

  private static void serve(
      WorkerBuilder worker, Scenario scenario, String version, WorkerContext context) {
    worker.workflow(
        scenario.type().version(version),
        (ctx, input) -> {
          Script script = Script.begin(ctx, input, context);
          script.isOfVersion(version);
          return scenario.execute(script);
        });
  }
}
