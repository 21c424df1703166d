package dev.kagzi.engine.internal.transition;

import dev.kagzi.engine.internal.run.RunRow;
import dev.kagzi.engine.internal.step.StepRow;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.StepRef;
import dev.kagzi.engine.value.StepStatus;
import org.jspecify.annotations.Nullable;

final class StepRowBuilder {
  private final RunRow run;
  private final int epoch;
  private final String stepKey;
  private final int attempt;
  private final StepKind kind;
  private final StepStatus status;
  private boolean isFinal;
  private @Nullable Payload input;
  private @Nullable Payload output;
  private @Nullable Failure failure;
  private @Nullable String retryPolicy;
  private @Nullable Long dueUs;
  private @Nullable Long timeoutUs;
  private long ranUs;
  private @Nullable RunId child;
  private @Nullable String inputHash;
  private @Nullable Payload progress;
  private @Nullable String name;

  StepRowBuilder(
      RunRow run, int epoch, String stepKey, int attempt, StepKind kind, StepStatus status) {
    this.run = run;
    this.epoch = epoch;
    this.stepKey = stepKey;
    this.attempt = attempt;
    this.kind = kind;
    this.status = status;
  }

  StepRowBuilder isFinal() {
    this.isFinal = true;
    return this;
  }

  StepRowBuilder input(@Nullable Payload value) {
    this.input = value;
    return this;
  }

  StepRowBuilder output(@Nullable Payload value) {
    this.output = value;
    return this;
  }

  StepRowBuilder failure(@Nullable Failure value) {
    this.failure = value;
    return this;
  }

  StepRowBuilder retryPolicy(@Nullable String value) {
    this.retryPolicy = value;
    return this;
  }

  StepRowBuilder dueUs(@Nullable Long value) {
    this.dueUs = value;
    return this;
  }

  StepRowBuilder timeoutUs(@Nullable Long value) {
    this.timeoutUs = value;
    return this;
  }

  StepRowBuilder child(@Nullable RunId value) {
    this.child = value;
    return this;
  }

  StepRowBuilder inputHash(String value) {
    this.inputHash = value.isEmpty() ? null : value;
    return this;
  }

  StepRowBuilder progress(@Nullable Payload value) {
    this.progress = value;
    return this;
  }

  /** The step's display name; stored only if it differs from the name inside of the key. */
  StepRowBuilder name(String value) {
    String ofKey = new StepRef(run.runId(), stepKey, attempt, epoch).name();
    this.name = ofKey.equals(value) ? null : value;
    return this;
  }

  StepRowBuilder ranUs(long value) {
    this.ranUs = Math.max(0, value);
    return this;
  }

  StepRow row() {
    return new StepRow(
        run.runId(),
        stepKey,
        attempt,
        epoch,
        run.attempts(),
        kind,
        status,
        isFinal,
        input,
        output,
        failure,
        retryPolicy,
        dueUs,
        timeoutUs,
        ranUs,
        child,
        inputHash,
        progress,
        name);
  }
}
