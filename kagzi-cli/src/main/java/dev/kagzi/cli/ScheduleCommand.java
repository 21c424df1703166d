package dev.kagzi.cli;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import com.google.protobuf.Timestamp;
import dev.kagzi.protocol.v1.BackfillScheduleRequest;
import dev.kagzi.protocol.v1.BackfillScheduleResponse;
import dev.kagzi.protocol.v1.CreateWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.DeleteWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.DeleteWorkflowScheduleResponse;
import dev.kagzi.protocol.v1.ListScheduleRunsRequest;
import dev.kagzi.protocol.v1.ListScheduleRunsResponse;
import dev.kagzi.protocol.v1.ListWorkflowSchedulesRequest;
import dev.kagzi.protocol.v1.ListWorkflowSchedulesResponse;
import dev.kagzi.protocol.v1.OverlapPolicy;
import dev.kagzi.protocol.v1.PageRequest;
import dev.kagzi.protocol.v1.PauseWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.protocol.v1.PreviewScheduleRequest;
import dev.kagzi.protocol.v1.PreviewScheduleResponse;
import dev.kagzi.protocol.v1.ResumeWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.TriggerWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.TriggerWorkflowScheduleResponse;
import dev.kagzi.protocol.v1.UpdateWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.protocol.v1.WorkflowSchedule;
import dev.kagzi.sdk.Overlap;
import dev.kagzi.server.config.Kind;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Starts runs by the clock. */
@Command(
    name = "schedule",
    description = "Starts runs by the clock.",
    synopsisSubcommandLabel = "COMMAND",
    footer = {
      "",
      "SCHEDULE is a schedule's name or its id.",
      "EXPR has 5 fields (minute hour day-of-month month day-of-week), 6 with seconds first, 7 with"
          + " a year last, or is @hourly, @daily, @weekly, @monthly or @yearly."
    })
final class ScheduleCommand implements Runnable {
  private static final int PAGE_SIZE_MAX = 100;
  private static final int DONE = 0;
  private static final int NOT_DONE = 1;
  private static final Kind.Time JITTER = new Kind.Time("0s", "7d");

  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "Which command? See below.");
  }

  /** What a schedule shall be, as far as it is said. */
  static final class Wanted {
    @Option(names = "--workflow", paramLabel = "TYPE", description = "The type of its runs.")
    private @Nullable String workflow;

    @Option(names = "--queue", paramLabel = "NAME", description = "The task queue of its runs.")
    private @Nullable String queue;

    @Option(names = "--cron", paramLabel = "EXPR", description = "When it fires.")
    private @Nullable String cron;

    @Option(
        names = "--zone",
        paramLabel = "ZONE",
        description = "The expression's time zone, such as Europe/Berlin (default: UTC).")
    private @Nullable String zone;

    @Option(
        names = "--input",
        paramLabel = "JSON|@FILE",
        description = "The input of its runs: JSON, or a file with it.")
    private @Nullable String input;

    @Option(
        names = "--workflow-version",
        paramLabel = "VERSION",
        description = "The version of its runs' type.")
    private @Nullable String version;

    @Option(
        names = "--overlap",
        paramLabel = "POLICY",
        description =
            "What becomes of a slot while an earlier run has not ended: ${COMPLETION-CANDIDATES}"
                + " (default: ALLOW).")
    private @Nullable Overlap overlap;

    @Option(
        names = "--max-catchup",
        paramLabel = "N",
        description = "How many missed slots become runs after all (default: 100).")
    private @Nullable Integer maxCatchup;

    @Option(
        names = "--jitter",
        paramLabel = "TIME",
        description = "Runs start up to so much after their slot, such as 30s.")
    private @Nullable String jitter;

    private @Nullable Payload payload(CommandSpec spec) {
      String text = input;
      if (text == null) {
        return null;
      }
      String json = text.startsWith("@") ? read(spec, Path.of(text.substring(1))) : text;
      try {
        JsonMapper.shared().readTree(json);
      } catch (JacksonException e) {
        throw new ParameterException(
            spec.commandLine(), "--input: " + text + " (expected: JSON, or @FILE)", e);
      }
      return Payload.newBuilder()
          .setData(ByteString.copyFromUtf8(json))
          .putMetadata("content-type", "application/json")
          .build();
    }

    private static String read(CommandSpec spec, Path file) {
      try {
        return Files.readString(file);
      } catch (IOException e) {
        throw new ParameterException(
            spec.commandLine(), "--input: @" + file + " (expected: a file that can be read)", e);
      }
    }

    private @Nullable Long jitterMs(CommandSpec spec) {
      if (jitter == null) {
        return null;
      }
      try {
        return ((Duration) JITTER.read(jitter)).toMillis();
      } catch (IllegalArgumentException e) {
        throw new ParameterException(
            spec.commandLine(), "--jitter: " + jitter + " (expected: " + e.getMessage() + ")", e);
      }
    }

    private OverlapPolicy policy() {
      return overlap == null
          ? OverlapPolicy.OVERLAP_POLICY_UNSPECIFIED
          : OverlapPolicy.valueOf("OVERLAP_POLICY_" + overlap);
    }
  }

  @Command(name = "create", description = "Saves a new schedule.")
  int create(
      @Mixin ServerOptions options,
      @Option(names = "--name", paramLabel = "NAME", required = true, description = "Its name.")
          String name,
      @Mixin Wanted wanted,
      @Option(names = "--paused", description = "It does not fire until it is resumed.")
          boolean paused,
      @Option(
              names = "--or-update",
              description = "One that is there with this name is made what is said here.")
          boolean orUpdate) {
    CreateWorkflowScheduleRequest.Builder request =
        CreateWorkflowScheduleRequest.newBuilder()
            .setName(name)
            .setWorkflowType(required("--workflow", wanted.workflow))
            .setTaskQueue(required("--queue", wanted.queue))
            .setCronExpr(required("--cron", wanted.cron))
            .setOverlapPolicy(wanted.policy())
            .setOrUpdate(orUpdate);
    ifSaid(wanted.zone, request::setTimeZone);
    ifSaid(wanted.payload(spec), request::setInput);
    ifSaid(wanted.version, request::setVersion);
    ifSaid(wanted.maxCatchup, request::setMaxCatchup);
    ifSaid(wanted.jitterMs(spec), request::setJitterMs);
    if (paused) {
      request.setEnabled(false);
    }
    try (RemoteServer server = options.connect()) {
      request.setNamespace(server.namespace());
      WorkflowSchedule made =
          server
              .call(() -> server.schedules().createWorkflowSchedule(request.build()))
              .getSchedule();
      return show(options, made);
    }
  }

  private static <T> void ifSaid(@Nullable T value, Consumer<T> setter) {
    if (value != null) {
      setter.accept(value);
    }
  }

  private String required(String option, @Nullable String value) {
    if (value == null) {
      throw new ParameterException(spec.commandLine(), option + ": missing (expected: a value)");
    }
    return value;
  }

  private int show(ServerOptions options, WorkflowSchedule schedule) {
    print(
        options.json()
            ? MessageJson.text(MessageJson.of(schedule))
            : ScheduleText.details(schedule));
    return DONE;
  }

  @Command(name = "get", description = "Shows a schedule.")
  int get(@Mixin ServerOptions options, @Parameters(paramLabel = "SCHEDULE") String schedule) {
    try (RemoteServer server = options.connect()) {
      return show(options, server.schedule(schedule));
    }
  }

  @Command(name = "list", description = "Lists schedules, newest first, paused ones too.")
  int list(
      @Mixin ServerOptions options,
      @Option(
              names = "--queue",
              paramLabel = "NAME",
              description = "Only those of this task queue.")
          @Nullable String queue,
      @Option(names = "--workflow", paramLabel = "TYPE", description = "Only those of this type.")
          @Nullable String workflow,
      @Option(
              names = "--enabled",
              arity = "1",
              paramLabel = "BOOLEAN",
              description = "true: only those that fire; false: only those that are paused.")
          @Nullable Boolean enabled,
      @Option(
              names = "--limit",
              paramLabel = "N",
              defaultValue = "20",
              description = "How many at most (default: ${DEFAULT-VALUE}).")
          int limit) {
    ListWorkflowSchedulesRequest.Builder request = ListWorkflowSchedulesRequest.newBuilder();
    ifSaid(queue, request::setTaskQueue);
    ifSaid(workflow, request::setWorkflowType);
    ifSaid(enabled, request::setEnabled);
    try (RemoteServer server = options.connect()) {
      request.setNamespace(server.namespace());
      Pages<WorkflowSchedule> pages = new Pages<>(checked(limit));
      while (pages.hasMore()) {
        ListWorkflowSchedulesRequest wanted = request.setPage(pages.next()).build();
        ListWorkflowSchedulesResponse page =
            server.call(() -> server.schedules().listWorkflowSchedules(wanted));
        pages.add(page.getSchedulesList(), page.getPage().getNextPageToken());
      }
      print(
          options.json()
              ? pages.json("schedules")
              : pages.items.isEmpty() ? "no schedules" : ScheduleText.list(pages.items));
      return DONE;
    }
  }

  /** What a list gathers until there is enough. */
  private static final class Pages<T extends Message> {
    private final List<T> items = new ArrayList<>();
    private final int limit;
    private @Nullable String token;

    Pages(int limit) {
      this.limit = limit;
    }

    boolean hasMore() {
      return token == null || (!token.isEmpty() && items.size() < limit);
    }

    PageRequest next() {
      return PageRequest.newBuilder()
          .setPageSize(Math.min(PAGE_SIZE_MAX, limit - items.size()))
          .setPageToken(token == null ? "" : token)
          .build();
    }

    void add(List<T> page, String nextToken) {
      items.addAll(page);
      token = nextToken;
    }

    String json(String name) {
      ObjectNode json = JsonNodeFactory.instance.objectNode();
      ArrayNode array = json.putArray(name);
      items.forEach(item -> array.add(MessageJson.of(item)));
      if (token != null && !token.isEmpty()) {
        json.put("nextPageToken", token);
      }
      return MessageJson.text(json);
    }
  }

  private int checked(int limit) {
    if (limit < 1) {
      throw new ParameterException(
          spec.commandLine(), "--limit: " + limit + " (expected: at least 1)");
    }
    return limit;
  }

  @Command(name = "update", description = "Changes what is named of a schedule.")
  int update(
      @Mixin ServerOptions options,
      @Parameters(paramLabel = "SCHEDULE") String schedule,
      @Option(names = "--name", paramLabel = "NAME", description = "Its new name.")
          @Nullable String name,
      @Mixin Wanted wanted,
      @Option(
              names = "--next",
              paramLabel = "TIME",
              description = "Its next slot, whatever the expression says.")
          @Nullable String next) {
    UpdateWorkflowScheduleRequest.Builder request =
        UpdateWorkflowScheduleRequest.newBuilder().setOverlapPolicy(wanted.policy());
    ifSaid(name, request::setName);
    ifSaid(wanted.workflow, request::setWorkflowType);
    ifSaid(wanted.queue, request::setTaskQueue);
    ifSaid(wanted.cron, request::setCronExpr);
    ifSaid(wanted.zone, request::setTimeZone);
    ifSaid(wanted.payload(spec), request::setInput);
    ifSaid(wanted.version, request::setVersion);
    ifSaid(wanted.maxCatchup, request::setMaxCatchup);
    ifSaid(wanted.jitterMs(spec), request::setJitterMs);
    if (next != null) {
      request.setNextFireAt(time("--next", next));
    }
    try (RemoteServer server = options.connect()) {
      request
          .setNamespace(server.namespace())
          .setScheduleId(server.schedule(schedule).getScheduleId());
      return show(
          options,
          server
              .call(() -> server.schedules().updateWorkflowSchedule(request.build()))
              .getSchedule());
    }
  }

  @Command(name = "pause", description = "Keeps a schedule from firing.")
  int pause(@Mixin ServerOptions options, @Parameters(paramLabel = "SCHEDULE") String schedule) {
    try (RemoteServer server = options.connect()) {
      PauseWorkflowScheduleRequest request =
          PauseWorkflowScheduleRequest.newBuilder()
              .setNamespace(server.namespace())
              .setScheduleId(server.schedule(schedule).getScheduleId())
              .build();
      return show(
          options,
          server.call(() -> server.schedules().pauseWorkflowSchedule(request)).getSchedule());
    }
  }

  @Command(
      name = "resume",
      description = "Lets a paused schedule fire again, and catch up with what it missed.")
  int resume(@Mixin ServerOptions options, @Parameters(paramLabel = "SCHEDULE") String schedule) {
    try (RemoteServer server = options.connect()) {
      ResumeWorkflowScheduleRequest request =
          ResumeWorkflowScheduleRequest.newBuilder()
              .setNamespace(server.namespace())
              .setScheduleId(server.schedule(schedule).getScheduleId())
              .build();
      return show(
          options,
          server.call(() -> server.schedules().resumeWorkflowSchedule(request)).getSchedule());
    }
  }

  @Command(name = "trigger", description = "Starts a run of a schedule now, paused or not.")
  int trigger(@Mixin ServerOptions options, @Parameters(paramLabel = "SCHEDULE") String schedule) {
    try (RemoteServer server = options.connect()) {
      TriggerWorkflowScheduleRequest request =
          TriggerWorkflowScheduleRequest.newBuilder()
              .setNamespace(server.namespace())
              .setScheduleId(server.schedule(schedule).getScheduleId())
              .build();
      TriggerWorkflowScheduleResponse answer =
          server.call(() -> server.schedules().triggerWorkflowSchedule(request));
      return say(options, answer, "run " + answer.getRunId() + " started");
    }
  }

  @Command(name = "delete", description = "Deletes a schedule; its runs stay.")
  int delete(@Mixin ServerOptions options, @Parameters(paramLabel = "SCHEDULE") String schedule) {
    try (RemoteServer server = options.connect()) {
      DeleteWorkflowScheduleRequest request =
          DeleteWorkflowScheduleRequest.newBuilder()
              .setNamespace(server.namespace())
              .setScheduleId(server.schedule(schedule).getScheduleId())
              .build();
      DeleteWorkflowScheduleResponse answer =
          server.call(() -> server.schedules().deleteWorkflowSchedule(request));
      say(options, answer, answer.getMessage());
      return answer.getDeleted() ? DONE : NOT_DONE;
    }
  }

  @Command(name = "runs", description = "Lists the runs of a schedule, newest first.")
  int runs(
      @Mixin ServerOptions options,
      @Parameters(paramLabel = "SCHEDULE") String schedule,
      @Option(
              names = "--limit",
              paramLabel = "N",
              defaultValue = "20",
              description = "How many at most (default: ${DEFAULT-VALUE}).")
          int limit) {
    try (RemoteServer server = options.connect()) {
      ListScheduleRunsRequest.Builder request =
          ListScheduleRunsRequest.newBuilder()
              .setNamespace(server.namespace())
              .setScheduleId(server.scheduleId(schedule));
      Pages<Workflow> pages = new Pages<>(checked(limit));
      while (pages.hasMore()) {
        ListScheduleRunsRequest wanted = request.setPage(pages.next()).build();
        ListScheduleRunsResponse page =
            server.call(() -> server.schedules().listScheduleRuns(wanted));
        pages.add(page.getRunsList(), page.getPage().getNextPageToken());
      }
      print(
          options.json()
              ? pages.json("runs")
              : pages.items.isEmpty() ? "no runs" : ScheduleText.runs(pages.items));
      return DONE;
    }
  }

  @Command(name = "next", description = "Shows when an expression fires next; saves nothing.")
  int next(
      @Mixin ServerOptions options,
      @Option(
              names = "--cron",
              paramLabel = "EXPR",
              required = true,
              description = "When it fires.")
          String cron,
      @Option(
              names = "--zone",
              paramLabel = "ZONE",
              defaultValue = "UTC",
              description = "Its time zone (default: ${DEFAULT-VALUE}).")
          String zone,
      @Option(
              names = "--count",
              paramLabel = "N",
              defaultValue = "5",
              description = "How many times (default: ${DEFAULT-VALUE}).")
          int count) {
    if (count < 1) {
      throw new ParameterException(
          spec.commandLine(), "--count: " + count + " (expected: at least 1)");
    }
    try (RemoteServer server = options.connect()) {
      PreviewScheduleRequest request =
          PreviewScheduleRequest.newBuilder()
              .setCronExpr(cron)
              .setTimeZone(zone)
              .setCount(count)
              .build();
      PreviewScheduleResponse answer =
          server.call(() -> server.schedules().previewSchedule(request));
      return say(options, answer, ScheduleText.times(answer.getFireTimesList(), zone));
    }
  }

  @Command(
      name = "backfill",
      description = "Makes runs of the slots of a past time that have none.")
  int backfill(
      @Mixin ServerOptions options,
      @Parameters(paramLabel = "SCHEDULE") String schedule,
      @Option(
              names = "--from",
              paramLabel = "TIME",
              required = true,
              description = "The first slot, such as 2026-01-31T09:00:00Z; included.")
          String from,
      @Option(
              names = "--to",
              paramLabel = "TIME",
              required = true,
              description = "The end; not included.")
          String to) {
    Timestamp first = time("--from", from);
    Timestamp end = time("--to", to);
    try (RemoteServer server = options.connect()) {
      BackfillScheduleRequest request =
          BackfillScheduleRequest.newBuilder()
              .setNamespace(server.namespace())
              .setScheduleId(server.schedule(schedule).getScheduleId())
              .setFrom(first)
              .setTo(end)
              .build();
      BackfillScheduleResponse answer =
          server.call(() -> server.schedules().backfillSchedule(request));
      return say(
          options,
          answer,
          "%d runs started, %d slots had theirs before"
              .formatted(answer.getStarted(), answer.getExisted()));
    }
  }

  private Timestamp time(String option, String text) {
    Instant instant;
    try {
      instant =
          text.contains("T")
              ? OffsetDateTime.parse(text).toInstant()
              : LocalDate.parse(text).atStartOfDay(ZoneOffset.UTC).toInstant();
    } catch (DateTimeException e) {
      throw new ParameterException(
          spec.commandLine(),
          option + ": " + text + " (expected: a time such as 2026-01-31T09:00:00Z, or a day)",
          e);
    }
    return Timestamp.newBuilder()
        .setSeconds(instant.getEpochSecond())
        .setNanos(instant.getNano())
        .build();
  }

  private int say(ServerOptions options, Message answer, String text) {
    print(options.json() ? MessageJson.text(MessageJson.of(answer)) : text);
    return DONE;
  }

  private void print(String text) {
    PrintWriter out = spec.commandLine().getOut();
    out.println(text.stripTrailing());
    out.flush();
  }
}
