package dev.kagzi.sdk;

import dev.kagzi.sdk.internal.history.HistoryFile;
import dev.kagzi.sdk.internal.replay.HistoryDifference;
import dev.kagzi.sdk.internal.replay.Replay;
import dev.kagzi.sdk.internal.run.RegisteredWorkflow;
import dev.kagzi.sdk.internal.wire.Payloads;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * Checks changed workflow code against recorded histories, without a server and without executing
 * steps. Use it before you deploy code for which runs are open.
 *
 * <pre>{@code
 * new Replayer().workflow(PROCESS_ORDER, Orders::process).replay(RunHistory.read(path));
 * }</pre>
 *
 * <p>The code must request the recorded steps in the recorded order, with the same kind, name and,
 * where set, {@linkplain StepBuilder#input input}. If the run completed, the code must return an
 * equal result. If the run failed by an exception of its code, the code must throw. All other runs
 * are open or were ended from outside, for example by a cancel or a timeout: their code may
 * continue after the end of the history.
 *
 * <p>This is stricter than a worker, which finds steps by name and therefore tolerates some
 * changes. Not thread-safe.
 */
public final class Replayer {
  private final Map<String, RegisteredWorkflow<?, ?>> codes = new LinkedHashMap<>();
  private Payloads payloads;

  /** Creates a replayer with the default codec and no workflows. */
  public Replayer() {
    this(new Payloads(new FailedEventCodec(JacksonCodec.DEFAULT)));
  }

  Replayer(Payloads payloads) {
    this.payloads = payloads;
  }

  /** Registers the code for runs of this type and version. */
  public <I, O> Replayer workflow(WorkflowType<I, O> type, Workflow<I, O> code) {
    return serve(new RegisteredWorkflow<>(type, Objects.requireNonNull(code, "code")));
  }

  /** Sets the codec of the runs; {@link JacksonCodec} by default. */
  public Replayer codec(PayloadCodec codec) {
    this.payloads = new Payloads(new FailedEventCodec(Objects.requireNonNull(codec, "codec")));
    return this;
  }

  Replayer serve(RegisteredWorkflow<?, ?> code) {
    codes.put(code.type().toString(), code);
    return this;
  }

  /**
   * Replays a run. Returns normally if the code does what the history recorded.
   *
   * @throws ReplayDiffersException if the code differs from the history; it describes the first
   *     difference
   * @throws IllegalArgumentException if no code is registered for the run's type and version
   */
  public void replay(RunHistory history) {
    HistoryFile file = history.file();
    String name = file.run().getWorkflowType();
    String version = file.run().getVersion();
    RegisteredWorkflow<?, ?> code =
        codes.get(version.isEmpty() ? name : name + " (version " + version + ")");
    if (code == null) {
      throw new IllegalArgumentException(
          "workflow: %s%s (expected: one of %s)"
              .formatted(
                  name, version.isEmpty() ? "" : " (version " + version + ")", codes.keySet()));
    }
    HistoryDifference difference = Replay.compare(file, code, payloads);
    if (difference != null) {
      throw new ReplayDiffersException(history.run(), difference);
    }
  }
}
