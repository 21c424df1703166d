package dev.kagzi.cli;

import com.google.protobuf.ByteString;
import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.protocol.v1.StartWorkflowResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "start",
    description = "Starts a run and prints its id.",
    footer = {
      "",
      "With --id a run that is active under this id already is answered instead, so that",
      "the command can be repeated."
    })
final class WorkflowStart extends RemoteCommand {

  @Parameters(paramLabel = "TYPE", description = "The type of the workflow.")
  private String type = "";

  @Option(
      names = "--queue",
      paramLabel = "NAME",
      required = true,
      description = "The task queue whose workers serve it.")
  private String queue = "";

  @Option(names = "--id", paramLabel = "ID", description = "A name of yours for the run.")
  private @Nullable String id;

  @Option(
      names = "--input",
      paramLabel = "JSON|@FILE",
      description = "What the workflow is given: JSON, or a file with it.")
  private @Nullable String input;

  @Override
  int run(RemoteServer server, Answer answer) {
    StartWorkflowRequest.Builder request =
        StartWorkflowRequest.newBuilder()
            .setNamespace(server.namespace())
            .setWorkflowType(type)
            .setTaskQueue(queue);
    if (id != null) {
      if (id.isEmpty()) {
        throw wrong("--id", "\"\"", "at least one character");
      }
      request.setExternalId(id);
    }
    if (input != null) {
      request.setInput(Payload.newBuilder().setData(ByteString.copyFrom(json(input))));
    }
    StartWorkflowResponse started =
        server.call(() -> server.workflows().startWorkflow(request.build()));
    answer.give(started, started::getRunId);
    if (started.getAlreadyExists() && !answer.isJson()) {
      String other = started.getWorkflowType();
      answer.say(
          "run "
              + started.getRunId()
              + (other.isEmpty() || other.equals(type) ? "" : " of type " + other)
              + " was there before with this id");
    }
    return ExitCode.DONE;
  }

  private byte[] json(String text) {
    byte[] json =
        text.startsWith("@") ? contents(text.substring(1)) : text.getBytes(StandardCharsets.UTF_8);
    if (!MessageJson.isJson(json)) {
      throw wrong(
          "--input",
          text.length() <= 100 ? text : text.substring(0, 100) + "…",
          "JSON, such as 42, '\"text\"' or '{\"a\": 1}', or @FILE with JSON in it");
    }
    return json;
  }

  private byte[] contents(String file) {
    try {
      return Files.readAllBytes(Path.of(file));
    } catch (IOException | InvalidPathException e) {
      throw wrong("--input", "@" + file, "a file that can be read");
    }
  }
}
