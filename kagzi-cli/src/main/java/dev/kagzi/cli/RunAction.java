package dev.kagzi.cli;

import com.google.protobuf.Message;
import dev.kagzi.protocol.v1.WorkflowStatus;
import picocli.CommandLine.Parameters;

/** A command that acts on one run and reports whether it took effect. */
abstract class RunAction extends RemoteCommand {

  @Parameters(paramLabel = "RUN", description = "The run id, or the id given at its start.")
  private String run = "";

  record Outcome(boolean done, String text, Message response) {

    static Outcome of(boolean done, String text, WorkflowStatus status, Message response) {
      String late = "had already ended as " + RunText.status(status);
      return new Outcome(done, done ? text : late, response);
    }
  }

  abstract Outcome act(RemoteServer server, String runId);

  @Override
  final int run(RemoteServer server, Output output) {
    String id = server.runId(run);
    Outcome outcome = server.call(() -> act(server, id));
    String line = "run " + id + " " + outcome.text();
    output.print(outcome.response(), () -> outcome.done() ? line : "");
    if (outcome.done()) {
      return ExitCode.DONE;
    }
    output.printNote(line);
    return ExitCode.FAILED;
  }
}
