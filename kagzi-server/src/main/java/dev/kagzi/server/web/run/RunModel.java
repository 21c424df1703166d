package dev.kagzi.server.web.run;

import dev.kagzi.engine.query.PublishedView;
import dev.kagzi.engine.query.RunCount;
import dev.kagzi.engine.query.RunView;
import dev.kagzi.engine.query.WaitCause;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepRef;
import dev.kagzi.server.web.page.Links;
import dev.kagzi.server.web.page.Paging;
import dev.kagzi.server.web.page.Show;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What the page of a run shows.
 *
 * @param causes why it does not continue, or what it is doing; empty for an ended run
 * @param values what its code has published
 * @param children how many runs its steps have started, counted up to a limit
 * @param retries the runs that retry this one; not looked for while it is open
 * @param isStale whether the run has ended since the browser loaded the page
 */
public record RunModel(
    RunView run,
    List<WaitCause> causes,
    List<PublishedView.Value> values,
    RunCount children,
    List<RunId> retries,
    Steps steps,
    Signals signals,
    Timeline timeline,
    Links links,
    Instant now,
    String live,
    boolean isStale) {

  /**
   * One page of the steps.
   *
   * @param count of all attempts of the filter
   * @param name only steps of this name; empty for all
   */
  public record Steps(
      List<StepRow> rows, Paging paging, long count, String name, String first, String newest) {
    public Steps {
      rows = List.copyOf(rows);
    }
  }

  /**
   * The newest signals.
   *
   * @param count of all signals of the run
   */
  public record Signals(List<SignalRow> rows, long count) {
    public Signals {
      rows = List.copyOf(rows);
    }
  }

  public RunModel {
    causes = List.copyOf(causes);
    values = List.copyOf(values);
    retries = List.copyOf(retries);
  }

  public StepLinks stepLinks() {
    return new StepLinks(links, run.runId());
  }

  public boolean isOpen() {
    return !run.status().isFinal();
  }

  /** Returns the steps of this page that wait for a signal. */
  public List<StepRow> awaitedSignals() {
    return steps.rows().stream()
        .filter(row -> isOpen() && SignalPages.isAwaiting(row.step()))
        .toList();
  }

  /**
   * Returns whether the code of its workers cannot continue it. Only a PENDING run is blocked: a
   * RUNNING run is being continued by a worker.
   */
  public boolean isBlocked() {
    return run.blockedBy() != null && run.status() == RunStatus.PENDING;
  }

  /** Returns whether its namespace is disabled, so that it is not handed to a worker. */
  public boolean isNamespaceDisabled() {
    return causes.stream().anyMatch(cause -> cause.code() == WaitCause.Code.NAMESPACE_DISABLED);
  }

  /** Returns whether the time at which it continues has passed, and no worker has taken it yet. */
  public boolean isOverdue() {
    Instant wakeUp = run.wakeUpAt();
    return isOpen() && wakeUp != null && !wakeUp.isAfter(now);
  }

  /**
   * Returns whether a cancel is requested and the run is still open, because its code cleans up.
   */
  public boolean isCancelRequested() {
    return run.cancelRequestedAt() != null && isOpen();
  }

  /** Returns whether the page has a notice to show above the facts of the run. */
  public boolean hasNotice() {
    return isStale || isBlocked() || !causes.isEmpty() || run.error() != null;
  }

  public boolean canResume() {
    return run.status() == RunStatus.FAILED || run.status() == RunStatus.TIMED_OUT;
  }

  /** Returns whether an ended run can be started again: not one that has continued as new. */
  public boolean canRetry() {
    return run.setup().chain().continuedTo() == null;
  }

  public String whyTitle() {
    return run.status() == RunStatus.RUNNING ? "What it does" : "Why it waits";
  }

  public @Nullable FailureView failure() {
    return FailureView.of(run.error());
  }

  public @Nullable FailureView blocked() {
    return isBlocked() ? FailureView.of(run.blockedBy()) : null;
  }

  public PayloadView input() {
    return PayloadView.bounded(place("Input"), run.input());
  }

  public PayloadView output() {
    return PayloadView.bounded(place("Output"), run.output());
  }

  /** Returns all payloads of the run, also large ones. */
  public List<PayloadView> wholePayloads() {
    List<PayloadView> all = new ArrayList<>();
    all.add(PayloadView.whole(place("Input"), run.input()));
    all.add(PayloadView.whole(place("Output"), run.output()));
    for (int i = 0; i < values.size(); i++) {
      all.add(PayloadView.whole(publishedPlace(i), values.get(i).payload()));
    }
    return all;
  }

  /**
   * A value that the code has published.
   *
   * @param at when it was stored
   */
  public record Published(PayloadView payload, Instant at) {}

  public List<Published> published() {
    List<Published> all = new ArrayList<>();
    for (int i = 0; i < values.size(); i++) {
      PublishedView.Value value = values.get(i);
      all.add(
          new Published(
              PayloadView.bounded(publishedPlace(i), value.payload()), value.publishedAt()));
    }
    return all;
  }

  private PayloadView.Place publishedPlace(int index) {
    String name = values.get(index).name();
    return new PayloadView.Place(
        name, "published-" + index, stepLinks().payloads(), stepLinks().published(name));
  }

  private PayloadView.Place place(String title) {
    String of = title.toLowerCase(Locale.ROOT);
    return new PayloadView.Place(title, of, stepLinks().payloads(), stepLinks().payload(of));
  }

  public Map<String, String> headers() {
    return new TreeMap<>(run.setup().headers());
  }

  public String version() {
    return switch (run.version()) {
      case "" -> "";
      case "*" -> "any version";
      default -> "version " + run.version();
    };
  }

  /**
   * Returns the id of a new run that retries this one. The form contains it, so that a form that is
   * sent twice starts one run.
   */
  public RunId retryId() {
    return RunId.next(run.runId().shard());
  }

  /** Returns the link to the page of what a cause names. */
  public String href(WaitCause.Ref ref) {
    return switch (ref.kind()) {
      case RUN -> links.run(ref.id());
      case WORKER -> links.to("/workers/" + ref.id());
      case SCHEDULE -> links.to("/schedules/" + ref.id());
      case STEP -> {
        StepRef step = StepRef.parse(ref.id());
        yield new StepLinks(links, step.runId()).step(step.stepKey(), step.attempt());
      }
      case QUEUE -> links.to("/queues/queue", "queue", ref.id());
      case NAMESPACE -> links.to("/namespaces/edit", "name", ref.id());
    };
  }

  /** Returns the text of a link to what a cause names. */
  public static String words(WaitCause.Ref ref) {
    return switch (ref.kind()) {
      case RUN -> "run " + shortened(ref);
      case WORKER -> "worker " + shortened(ref);
      case SCHEDULE -> "schedule " + shortened(ref);
      case STEP -> "step " + StepRef.parse(ref.id()).stepKey();
      case QUEUE -> "queue " + ref.id();
      case NAMESPACE -> "namespace " + ref.id();
    };
  }

  private static String shortened(WaitCause.Ref ref) {
    return Show.shortId(ref.id());
  }
}
