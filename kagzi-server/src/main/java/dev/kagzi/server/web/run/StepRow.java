package dev.kagzi.server.web.run;

import dev.kagzi.engine.query.CallbackView;
import dev.kagzi.engine.query.RunView;
import dev.kagzi.engine.query.StepView;
import dev.kagzi.engine.value.CallbackAnswer;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.StepStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One attempt in the table of steps.
 *
 * @param payloads those that it has
 * @param took null while it is open
 * @param answer the answer of a callback; null for other steps, and while there is none
 * @param isInterrupted whether nobody executes it, although no result was reported
 */
public record StepRow(
    StepView step,
    StepLabel label,
    String href,
    List<PayloadView> payloads,
    @Nullable FailureView failure,
    @Nullable Duration took,
    @Nullable Answer answer,
    boolean isInterrupted) {

  public StepRow {
    payloads = List.copyOf(payloads);
  }

  /**
   * The answer of a callback, also if no step has awaited it.
   *
   * @param failure the type and message of a failed one; empty for others
   */
  public record Answer(Instant at, boolean failed, String failure) {}

  /** A row of a list with the answer of its callback. */
  StepRow listedAnswer(CallbackView view, StepLinks links, int index) {
    PayloadView.Place place = place(step, links, "Answer", "a" + index);
    return withAnswer(view, PayloadView.listed(place, view.payload(), true));
  }

  /** A row with the answer of its callback, also a large one. */
  StepRow wholeAnswer(CallbackView view, StepLinks links) {
    return withAnswer(
        view, PayloadView.whole(place(step, links, "Answer", "answer"), view.payload()));
  }

  private StepRow withAnswer(CallbackView view, PayloadView value) {
    Map<String, String> metadata = view.payload().metadata();
    String message = metadata.getOrDefault(CallbackAnswer.FAILURE, "");
    String type = metadata.getOrDefault(CallbackAnswer.FAILURE_TYPE, "");
    String problem = type.isEmpty() ? message : type + ": " + message;
    List<PayloadView> all = new ArrayList<>(payloads);
    if (!view.failed()) {
      all.add(value);
    }
    Answer given = new Answer(view.answeredAt(), view.failed(), problem);
    return new StepRow(step, label, href, all, failure, took, given, isInterrupted);
  }

  /** Returns the key of the callback whose answer it waits for; empty for other steps. */
  public String awaitedCallback() {
    return step.kind() == StepKind.SIGNAL && CallbackAnswer.isSignalName(step.name())
        ? step.name().substring(CallbackAnswer.PREFIX.length())
        : "";
  }

  /** Returns whether it waited for a signal or an answer until its timeout. */
  public boolean isTimedOutWait() {
    return step.kind() == StepKind.SIGNAL
        && step.status() == StepStatus.COMPLETED
        && step.output() == null;
  }

  public boolean isCallback() {
    return step.kind() == StepKind.CALLBACK;
  }

  /** A row of a list, whose large payloads are not read. */
  static StepRow listed(RunView run, StepView step, StepLinks links, int index) {
    String id = "p" + index;
    boolean hasInput = step.inputHash() != null;
    return of(
        run,
        step,
        links,
        List.of(
            PayloadView.listed(place(step, links, "Input", id + "i"), step.input(), hasInput),
            PayloadView.listed(place(step, links, "Progress", id + "g"), step.progress(), true),
            PayloadView.listed(place(step, links, "Output", id + "o"), output(step), true)));
  }

  /** A row with all payloads, also large ones. */
  static StepRow whole(RunView run, StepView step, StepLinks links) {
    return of(
        run,
        step,
        links,
        List.of(
            PayloadView.whole(place(step, links, "Input", "input"), step.input()),
            PayloadView.whole(place(step, links, "Progress", "progress"), step.progress()),
            PayloadView.whole(place(step, links, "Output", "output"), output(step))));
  }

  /** A callback step stores only metadata, no data; its answer is shown instead. */
  private static @Nullable Payload output(StepView step) {
    return step.kind() == StepKind.CALLBACK ? null : step.output();
  }

  private static StepRow of(
      RunView run, StepView step, StepLinks links, List<PayloadView> payloads) {
    Instant finished = step.finishedAt();
    return new StepRow(
        step,
        StepLabel.of(step),
        links.step(step),
        payloads.stream().filter(each -> each.state() != PayloadView.State.NONE).toList(),
        FailureView.of(step.error()),
        finished == null ? null : Duration.between(began(step), finished),
        null,
        HandOvers.isInterrupted(run, step));
  }

  private static Instant began(StepView step) {
    Instant began = Timeline.began(step);
    Instant finished = step.finishedAt();
    return finished != null && finished.isBefore(began) ? finished : began;
  }

  private static PayloadView.Place place(StepView step, StepLinks links, String title, String id) {
    String of = title.toLowerCase(Locale.ROOT);
    return new PayloadView.Place(title, id, links.step(step), links.payload(of, step));
  }

  public Instant began() {
    return Timeline.began(step);
  }

  public @Nullable RunId child() {
    return step.childRunId();
  }

  public String kind() {
    return switch (step.kind()) {
      case FUNCTION -> "step";
      case SLEEP -> "sleep";
      case CHILD_WORKFLOW -> "child";
      case SIGNAL -> CallbackAnswer.isSignalName(step.name()) ? "wait for callback" : "signal";
      case CALLBACK -> "callback";
    };
  }

  /** Returns whether an open sleep, or the wait for the next attempt, ends after this time. */
  public boolean isDueAfter(Instant now) {
    Instant due = due();
    return due != null && due.isAfter(now);
  }

  /** Returns when an open sleep ends, or when the next attempt may begin; null for neither. */
  public @Nullable Instant due() {
    boolean isOpenSleep = step.kind() == StepKind.SLEEP && step.status() == StepStatus.RUNNING;
    boolean isRetried = step.status() == StepStatus.FAILED && !step.isFinal();
    return isOpenSleep || isRetried ? step.dueAt() : null;
  }

  /**
   * Returns how long after its first beginning another claim began the attempt again; null if none
   * did.
   */
  public @Nullable Duration begunAgainAfter() {
    return HandOvers.isBegunAgain(step)
        ? Duration.between(step.createdAt(), Timeline.began(step))
        : null;
  }
}
