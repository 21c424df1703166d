package dev.kagzi.cli;

import com.google.protobuf.Message;
import dev.kagzi.protocol.v1.CancelWorkflowRequest;
import dev.kagzi.protocol.v1.CancelWorkflowResponse;
import dev.kagzi.protocol.v1.GetWorkflowRequest;
import dev.kagzi.protocol.v1.ListStepsRequest;
import dev.kagzi.protocol.v1.ListStepsResponse;
import dev.kagzi.protocol.v1.ListWorkersRequest;
import dev.kagzi.protocol.v1.ListWorkflowsRequest;
import dev.kagzi.protocol.v1.ListWorkflowsResponse;
import dev.kagzi.protocol.v1.PageRequest;
import dev.kagzi.protocol.v1.ResumeWorkflowRequest;
import dev.kagzi.protocol.v1.ResumeWorkflowResponse;
import dev.kagzi.protocol.v1.RetryWorkflowRequest;
import dev.kagzi.protocol.v1.RetryWorkflowResponse;
import dev.kagzi.protocol.v1.Step;
import dev.kagzi.protocol.v1.TerminateWorkflowRequest;
import dev.kagzi.protocol.v1.TerminateWorkflowResponse;
import dev.kagzi.protocol.v1.TypeVersion;
import dev.kagzi.protocol.v1.Worker;
import dev.kagzi.protocol.v1.WorkerStatus;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.protocol.v1.WorkflowStatus;
import dev.kagzi.sdk.RunStatus;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Looks at runs, ends them and revives them. */
@Command(
    name = "workflow",
    description = "Looks at runs, ends them and revives them.",
    synopsisSubcommandLabel = "COMMAND",
    footer = {
      "",
      "RUN is a run's id, or the id that its start gave it: then the latest run with it.",
      "Exit code: 0 when it was done, 1 when not, 2 for wrong usage."
    })
final class WorkflowCommand implements Runnable {

  private static final int PAGE_SIZE_MAX = 100;
  private static final int DONE = 0;
  private static final int NOT_DONE = 1;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "Which command? See below.");
  }

  @Command(name = "get", description = "Shows a run with every attempt of its steps.")
  int get(@Mixin ServerOptions options, @Parameters(paramLabel = "RUN") String run) {
    try (RemoteServer server = options.connect()) {
      GetWorkflowRequest request =
          GetWorkflowRequest.newBuilder()
              .setNamespace(server.namespace())
              .setRunId(server.runId(run))
              .build();
      Workflow found = server.call(() -> server.workflows().getWorkflow(request)).getWorkflow();
      List<Step> steps = steps(server, found.getRunId());
      if (options.json()) {
        ObjectNode json = MessageJson.of(found);
        ArrayNode array = json.putArray("steps");
        steps.forEach(step -> array.add(MessageJson.of(step)));
        print(MessageJson.text(json));
      } else {
        print(RunText.details(found, waitsFor(server, found), steps));
      }
      return DONE;
    }
  }

  /** Why a run that could go on does not: empty when there is nothing to say. */
  private static String waitsFor(RemoteServer server, Workflow run) {
    if (run.getStatus() != WorkflowStatus.WORKFLOW_STATUS_PENDING
        || run.hasWakeUpAt()
        || run.hasBlockedBy()) {
      return "";
    }
    ListWorkersRequest request =
        ListWorkersRequest.newBuilder()
            .setNamespace(server.namespace())
            .setTaskQueue(run.getTaskQueue())
            .setStatusFilter(WorkerStatus.WORKER_STATUS_ONLINE)
            .setPage(PageRequest.newBuilder().setPageSize(PAGE_SIZE_MAX))
            .build();
    List<Worker> workers = server.call(() -> server.admin().listWorkers(request)).getWorkersList();
    Set<String> served = new TreeSet<>();
    for (Worker worker : workers) {
      for (TypeVersion type : worker.getServedList()) {
        served.add(RunText.type(type.getWorkflowType(), type.getVersion()));
        boolean version =
            type.getVersion().equals(run.getVersion()) || type.getVersion().equals("*");
        if (version && type.getWorkflowType().equals(run.getWorkflowType())) {
          return "a free slot of a worker";
        }
      }
    }
    return "a worker that serves %s on queue %s; online there: %s"
        .formatted(
            RunText.type(run.getWorkflowType(), run.getVersion()),
            run.getTaskQueue(),
            workers.isEmpty() ? "none" : workers.size() + ", serving " + String.join(", ", served));
  }

  private static List<Step> steps(RemoteServer server, String runId) {
    List<Step> steps = new ArrayList<>();
    String token = "";
    do {
      ListStepsRequest request =
          ListStepsRequest.newBuilder()
              .setNamespace(server.namespace())
              .setRunId(runId)
              .setPage(PageRequest.newBuilder().setPageSize(PAGE_SIZE_MAX).setPageToken(token))
              .build();
      ListStepsResponse page = server.call(() -> server.admin().listSteps(request));
      steps.addAll(page.getStepsList());
      token = page.getPage().getNextPageToken();
    } while (!token.isEmpty());
    return steps;
  }

  @Command(name = "list", description = "Lists runs, newest first.")
  int list(
      @Mixin ServerOptions options,
      @Option(
              names = "--status",
              paramLabel = "STATUS",
              split = ",",
              description = "Only these: ${COMPLETION-CANDIDATES}.")
          RunStatus @Nullable [] statuses,
      @Option(names = "--type", paramLabel = "NAME", description = "Only runs of this type.")
          @Nullable String type,
      @Option(names = "--queue", paramLabel = "NAME", description = "Only runs of this task queue.")
          @Nullable String queue,
      @Option(
              names = "--parent",
              paramLabel = "RUN",
              description = "Only what this run has started.")
          @Nullable String parent,
      @Option(
              names = "--limit",
              paramLabel = "N",
              defaultValue = "20",
              description = "How many at most (default: ${DEFAULT-VALUE}).")
          int limit) {
    if (limit < 1) {
      throw new ParameterException(
          spec.commandLine(), "--limit: " + limit + " (expected: at least 1)");
    }
    ListWorkflowsRequest.Builder filter = ListWorkflowsRequest.newBuilder();
    for (RunStatus status : statuses == null ? new RunStatus[0] : statuses) {
      filter.addStatuses(WorkflowStatus.valueOf("WORKFLOW_STATUS_" + status));
    }
    if (type != null) {
      filter.setWorkflowType(type);
    }
    if (queue != null) {
      filter.setTaskQueue(queue);
    }
    try (RemoteServer server = options.connect()) {
      if (parent != null) {
        filter.setParentRunId(server.runId(parent));
      }
      List<Workflow> runs = runs(server, filter.setNamespace(server.namespace()), limit);
      if (options.json()) {
        ListWorkflowsResponse all =
            ListWorkflowsResponse.newBuilder().addAllWorkflows(runs).build();
        print(MessageJson.text(MessageJson.of(all)));
      } else {
        print(runs.isEmpty() ? "no runs" : RunText.list(runs));
      }
      return DONE;
    }
  }

  private static List<Workflow> runs(
      RemoteServer server, ListWorkflowsRequest.Builder filter, int limit) {
    List<Workflow> runs = new ArrayList<>();
    String token = "";
    do {
      PageRequest.Builder page =
          PageRequest.newBuilder()
              .setPageSize(Math.min(PAGE_SIZE_MAX, limit - runs.size()))
              .setPageToken(token);
      ListWorkflowsRequest request = filter.setPage(page).build();
      ListWorkflowsResponse answer = server.call(() -> server.workflows().listWorkflows(request));
      runs.addAll(answer.getWorkflowsList());
      token = answer.getPage().getNextPageToken();
    } while (!token.isEmpty() && runs.size() < limit);
    return runs;
  }

  /** What became of something that was to be done to a run. */
  private record Outcome(boolean done, String text, Message answer) {}

  @Command(
      name = "cancel",
      description = "Ends a run at once as CANCELLED; its running code is interrupted.")
  int cancel(@Mixin ServerOptions options, @Parameters(paramLabel = "RUN") String run) {
    return act(
        options,
        run,
        (server, id) -> {
          CancelWorkflowResponse answer =
              server
                  .workflows()
                  .cancelWorkflow(
                      CancelWorkflowRequest.newBuilder()
                          .setNamespace(server.namespace())
                          .setRunId(id)
                          .build());
          return answer.getCancelled()
              ? new Outcome(true, "cancelled", answer)
              : new Outcome(false, endedBefore(answer.getStatus()), answer);
        });
  }

  @Command(
      name = "terminate",
      description = "Ends a run at once as FAILED; its running code is interrupted.")
  int terminate(
      @Mixin ServerOptions options,
      @Parameters(paramLabel = "RUN") String run,
      @Option(
              names = "--reason",
              paramLabel = "TEXT",
              defaultValue = "terminated from the command line",
              description = "Shown as the run's error (default: ${DEFAULT-VALUE}).")
          String reason) {
    return act(
        options,
        run,
        (server, id) -> {
          TerminateWorkflowResponse answer =
              server
                  .workflows()
                  .terminateWorkflow(
                      TerminateWorkflowRequest.newBuilder()
                          .setNamespace(server.namespace())
                          .setRunId(id)
                          .setReason(reason)
                          .build());
          return answer.getTerminated()
              ? new Outcome(true, "terminated", answer)
              : new Outcome(false, endedBefore(answer.getStatus()), answer);
        });
  }

  @Command(
      name = "retry",
      description = "Starts a new run like one that has ended, with the same input and options.")
  int retry(@Mixin ServerOptions options, @Parameters(paramLabel = "RUN") String run) {
    return act(
        options,
        run,
        (server, id) -> {
          RetryWorkflowResponse answer =
              server
                  .workflows()
                  .retryWorkflow(
                      RetryWorkflowRequest.newBuilder()
                          .setNamespace(server.namespace())
                          .setRunId(id)
                          .build());
          String other = "run " + answer.getNewRunId();
          return answer.getAlreadyRunning()
              ? new Outcome(false, "not retried: " + other + " is active", answer)
              : new Outcome(true, "retried as " + other, answer);
        });
  }

  @Command(
      name = "resume",
      description = "Lets a run that has FAILED or TIMED_OUT go on where it was.")
  int resume(@Mixin ServerOptions options, @Parameters(paramLabel = "RUN") String run) {
    return act(
        options,
        run,
        (server, id) -> {
          ResumeWorkflowResponse answer =
              server
                  .workflows()
                  .resumeWorkflow(
                      ResumeWorkflowRequest.newBuilder()
                          .setNamespace(server.namespace())
                          .setRunId(id)
                          .setAttempt(attempts(server, id))
                          .build());
          return answer.getResumed()
              ? new Outcome(true, "resumed", answer)
              : new Outcome(
                  false, "not resumed: it is " + RunText.status(answer.getStatus()), answer);
        });
  }

  private static int attempts(RemoteServer server, String id) {
    return server
        .workflows()
        .getWorkflow(
            GetWorkflowRequest.newBuilder().setNamespace(server.namespace()).setRunId(id).build())
        .getWorkflow()
        .getAttempts();
  }

  private static String endedBefore(WorkflowStatus status) {
    return "had ended before as " + RunText.status(status);
  }

  private int act(
      ServerOptions options, String run, BiFunction<RemoteServer, String, Outcome> action) {
    try (RemoteServer server = options.connect()) {
      String id = server.runId(run);
      Outcome outcome = server.call(() -> action.apply(server, id));
      print(
          options.json()
              ? MessageJson.text(MessageJson.of(outcome.answer()))
              : "run " + id + " " + outcome.text());
      return outcome.done() ? DONE : NOT_DONE;
    }
  }

  private void print(String text) {
    PrintWriter out = spec.commandLine().getOut();
    out.println(text.stripTrailing());
    out.flush();
  }
}
