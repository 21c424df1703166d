package dev.kagzi.cli;

import dev.kagzi.protocol.v1.AnswerCallbackRequest;
import dev.kagzi.protocol.v1.AnswerCallbackResponse;
import dev.kagzi.protocol.v1.CallbackFailure;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "callback",
    description = "Answers a callback of an open run, in place of the outside system.",
    footer = {
      "",
      "Prints how the callback is answered: completed or failed. The first answer stays, so a",
      "repeated command prints the first answer and changes nothing.",
      "",
      "Example:",
      "  kagzi workflow callback order-42 payment --input '{\"amount\": 12}'"
    })
final class WorkflowCallback extends RemoteCommand {

  @Parameters(
      index = "0",
      paramLabel = "RUN",
      description = "The run id, or the id given at its start.")
  private String run = "";

  @Parameters(
      index = "1",
      paramLabel = "CALLBACK",
      description = "The key of the step that made the callback; workflow steps lists them.")
  private String callback = "";

  @ArgGroup(multiplicity = "1")
  private Answer answer = new Answer();

  /** Either a value or a failure. */
  static final class Answer {
    @Option(
        names = "--input",
        paramLabel = "JSON|@FILE",
        description = "Complete it with this value: JSON, or @ and a file with JSON.")
    private @Nullable String input;

    @Option(names = "--fail", paramLabel = "MESSAGE", description = "Fail it with this message.")
    private @Nullable String fail;
  }

  @Override
  int run(RemoteServer server, Output output) {
    AnswerCallbackRequest.Builder request =
        AnswerCallbackRequest.newBuilder()
            .setNamespace(server.namespace())
            .setRunId(server.runId(run))
            .setStepKey(callback);
    if (answer.input != null) {
      request.setPayload(JsonInput.read(this, answer.input));
    } else {
      request.setFailure(
          CallbackFailure.newBuilder().setMessage(answer.fail == null ? "" : answer.fail));
    }
    AnswerCallbackResponse answered =
        server.call(() -> server.workflows().answerCallback(request.build()));
    output.print(answered, () -> answered.getFailed() ? "failed" : "completed");
    return ExitCode.DONE;
  }
}
