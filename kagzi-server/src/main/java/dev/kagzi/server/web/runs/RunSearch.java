package dev.kagzi.server.web.runs;

import dev.kagzi.engine.query.RunFilter;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.server.web.page.PageRequest;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What a person searches for, as the fields of the form have it; empty fields match all.
 *
 * @param id a run id, or the external id that runs were started with
 * @param after only runs created after this time, in UTC
 * @param before only runs created before this time, in UTC
 * @param due only runs that wait for a worker
 * @param worker only runs that this worker executes
 */
public record RunSearch(
    String namespace,
    Set<RunStatus> statuses,
    String type,
    String queue,
    String version,
    String id,
    String after,
    String before,
    String parent,
    String schedule,
    boolean blocked,
    boolean due,
    String worker) {

  static final List<RunStatus> STATUSES =
      List.of(
          RunStatus.PENDING,
          RunStatus.RUNNING,
          RunStatus.SLEEPING,
          RunStatus.COMPLETED,
          RunStatus.FAILED,
          RunStatus.TIMED_OUT,
          RunStatus.CANCELLED);

  private interface Fields {
    List<String> all(String name);

    default String one(String name) {
      List<String> values = all(name);
      return values.isEmpty() ? "" : values.getFirst().strip();
    }
  }

  static RunSearch ofQuery(PageRequest request) {
    return of(request.namespace(), request::queryAll);
  }

  static RunSearch ofForm(PageRequest request) {
    return of(request.namespace(), request::formAll);
  }

  private static RunSearch of(String namespace, Fields fields) {
    Set<RunStatus> statuses = EnumSet.noneOf(RunStatus.class);
    fields.all("status").forEach(name -> statuses.add(status(name)));
    return new RunSearch(
        namespace,
        statuses,
        fields.one("type"),
        fields.one("queue"),
        fields.one("version"),
        PageRequest.idText(fields.one("id")),
        fields.one("after"),
        fields.one("before"),
        fields.one("parent"),
        fields.one("schedule"),
        fields.one("blocked").equals("true"),
        fields.one("due").equals("true"),
        fields.one("worker"));
  }

  private static RunStatus status(String name) {
    return STATUSES.stream()
        .filter(status -> status.name().equals(name.toUpperCase(Locale.ROOT)))
        .findFirst()
        .orElseThrow(() -> Refusal.invalid("status", name, "one of " + STATUSES));
  }

  /** Returns the one run that is searched for, if the id is that of a run; else null. */
  @Nullable RunId runId() {
    return RunId.parse(id).orElse(null);
  }

  RunFilter filter() {
    return filter(statuses);
  }

  /** Returns the filter with other statuses. */
  RunFilter filter(Set<RunStatus> others) {
    return new RunFilter(
        namespace,
        others,
        orNull(type),
        orNull(queue),
        time("after", after),
        time("before", before),
        orNull(version),
        orNull(id),
        parent.isEmpty()
            ? null
            : RunId.parse(parent)
                .orElseThrow(() -> Refusal.invalid("parent", parent, "the id of a run")),
        uuid(),
        false,
        blocked,
        due,
        worker.isEmpty()
            ? null
            : WorkerId.parse(worker)
                .orElseThrow(() -> Refusal.invalid("worker", worker, "the id of a worker")));
  }

  private @Nullable UUID uuid() {
    if (schedule.isEmpty()) {
      return null;
    }
    return RunId.parse(schedule)
        .orElseThrow(() -> Refusal.invalid("schedule", schedule, "the id of a schedule"))
        .value();
  }

  private static @Nullable String orNull(String text) {
    return text.isEmpty() ? null : text;
  }

  private static @Nullable Instant time(String name, String text) {
    if (text.isEmpty()) {
      return null;
    }
    try {
      return text.endsWith("Z")
          ? Instant.parse(text)
          : LocalDateTime.parse(text).toInstant(ZoneOffset.UTC);
    } catch (DateTimeParseException e) {
      throw Refusal.invalid(name, text, "a time in UTC such as 2026-01-31T12:00");
    }
  }

  /** Returns whether everything matches. */
  public boolean isEmpty() {
    return fields().isEmpty();
  }

  /**
   * Returns whether the version, a time, the parent, the schedule or the worker is set, so that the
   * form shows these fields.
   */
  public boolean isDetailed() {
    return !(version + after + before + parent + schedule + worker).isEmpty();
  }

  /** A field of a form. */
  public record Field(String name, String value) {}

  /** Returns the fields that are not empty, for links and hidden fields. */
  public List<Field> fields() {
    List<Field> fields = new ArrayList<>();
    statuses.forEach(status -> fields.add(new Field("status", status.name())));
    add(fields, "type", type);
    add(fields, "queue", queue);
    add(fields, "version", version);
    add(fields, "id", id);
    add(fields, "after", after);
    add(fields, "before", before);
    add(fields, "parent", parent);
    add(fields, "schedule", schedule);
    add(fields, "blocked", blocked ? "true" : "");
    add(fields, "due", due ? "true" : "");
    add(fields, "worker", worker);
    return fields;
  }

  private static void add(List<Field> fields, String name, String value) {
    if (!value.isEmpty()) {
      fields.add(new Field(name, value));
    }
  }

  /** Returns names and values in turn, for a link. */
  public String[] query() {
    return fields().stream()
        .flatMap(field -> List.of(field.name(), field.value()).stream())
        .toArray(String[]::new);
  }
}
