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
 * Runs workflow code against recorded histories, without a server and without executing a step, and
 * says whether it still does what it did: before changed code meets runs that are open.
 *
 * <pre>{@code
 * new Replayer().workflow(PROCESS_ORDER, Orders::process).replay(RunHistory.read(path));
 * }</pre>
 *
 * <p>The code has to ask for the recorded steps in kind, name, order and, where the step was given
 * one, input, and to end as the run did. A run that was open may go on from where its record ends.
 * That is stricter than a worker, which finds steps by their names and so bears with some changes:
 * whether one is meant to be, only its author can tell. Not thread-safe.
 */
public final class Replayer {
  private final Map<String, RegisteredWorkflow<?, ?>> codes = new LinkedHashMap<>();
  private Payloads payloads;

  /** With the default codec, and no workflow yet. */
  public Replayer() {
    this(new Payloads(new FailedEventCodec(JacksonCodec.DEFAULT)));
  }

  Replayer(Payloads payloads) {
    this.payloads = payloads;
  }

  /** The code for runs of this type and version. */
  public <I, O> Replayer workflow(WorkflowType<I, O> type, Workflow<I, O> code) {
    return serve(new RegisteredWorkflow<>(type, Objects.requireNonNull(code, "code")));
  }

  /** The codec of those who started and executed the runs; JSON by Jackson if not set. */
  public Replayer codec(PayloadCodec codec) {
    this.payloads = new Payloads(new FailedEventCodec(Objects.requireNonNull(codec, "codec")));
    return this;
  }

  Replayer serve(RegisteredWorkflow<?, ?> code) {
    codes.put(code.type().toString(), code);
    return this;
  }

  /**
   * Returns if the code does what is recorded.
   *
   * @throws ReplayDiffersException if not, with the first difference
   * @throws IllegalArgumentException if there is no code for the run's type and version
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
