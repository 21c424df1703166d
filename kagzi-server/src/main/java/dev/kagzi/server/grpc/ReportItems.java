package dev.kagzi.server.grpc;

import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.PublishedValue;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.server.callback.CallbackUrls;
import org.jspecify.annotations.Nullable;

final class ReportItems {
  private ReportItems() {}

  /** Fields that retry policies leave out take their values from {@code defaults}. */
  static Report read(ReportItem item, RetryPolicy defaults, CallbackUrls callbacks) {
    Claim claim = Arguments.claim(item.getRunId(), item.getEpoch());
    return switch (item.getWhatCase()) {
      case STEP_STARTED -> stepStarted(claim, item.getStepStarted(), defaults);
      case STEP_DONE -> stepDone(claim, item.getStepDone());
      case STEP_FAILED -> stepFailed(claim, item.getStepFailed(), defaults);
      case SLEEP -> sleep(claim, item.getSleep());
      case WORKFLOW_DONE ->
          new Report.Done(
              claim,
              optional(item.getWorkflowDone().hasOutput(), item.getWorkflowDone().getOutput()),
              item.getWorkflowDone().getOpenSteps());
      case WORKFLOW_FAILED ->
          new Report.Failed(claim, Arguments.failure(item.getWorkflowFailed().getError()));
      case RELEASED -> released(claim, item.getReleased());
      case CHILD_STARTED -> childStarted(claim, item.getChildStarted(), defaults);
      case AWAITED -> awaited(claim, item.getAwaited());
      case RECEIVE -> receive(claim, item.getReceive());
      case RECEIVES_STOPPED -> receivesStopped(claim, item.getReceivesStopped());
      case VALUES_PUBLISHED -> published(claim, item.getValuesPublished());
      case CALLBACK -> callback(claim, item.getCallback(), callbacks);
      case CONTINUE_AS_NEW -> continueAsNew(claim, item.getContinueAsNew());
      case CANCEL_SEEN -> cancelSeen(claim, item.getCancelSeen());
      case WHAT_NOT_SET ->
          throw Refusal.invalid(
              "what", "nothing that this server knows", "one thing that happened");
    };
  }

  private static Report stepStarted(
      Claim claim, ReportItem.StepStarted step, RetryPolicy defaults) {
    return new Report.StepStarted(
        claim,
        step.getStepKey(),
        Arguments.positive("attempt", step.getAttempt()),
        Arguments.stepKind(step.getKind()),
        optional(step.hasInput(), step.getInput()),
        Arguments.notNegative("running_us", step.getRunningUs()),
        Arguments.notNegative("timeout_ms", step.getTimeoutMs()),
        step.hasRetryPolicy() ? Arguments.retryPolicy(step.getRetryPolicy(), defaults) : null,
        step.getInputHash(),
        optional(step.hasProgress(), step.getProgress()));
  }

  private static Report receivesStopped(Claim claim, ReportItem.ReceivesStopped stopped) {
    return new Report.ReceivesStopped(
        claim,
        stopped.getScopesList(),
        stopped.hasWinner() ? stepDone(claim, stopped.getWinner()) : null);
  }

  private static Report.StepDone stepDone(Claim claim, ReportItem.StepDone step) {
    return new Report.StepDone(
        claim,
        step.getStepKey(),
        Arguments.positive("attempt", step.getAttempt()),
        Arguments.stepKind(step.getKind()),
        optional(step.hasInput(), step.getInput()),
        Arguments.payload(step.getOutput()),
        Arguments.notNegative("ran_us", step.getRanUs()),
        step.getInputHash());
  }

  private static Report stepFailed(Claim claim, ReportItem.StepFailed step, RetryPolicy defaults) {
    return new Report.StepFailed(
        claim,
        step.getStepKey(),
        Arguments.positive("attempt", step.getAttempt()),
        optional(step.hasInput(), step.getInput()),
        Arguments.failure(step.getError()),
        step.hasRetryPolicy() ? Arguments.retryPolicy(step.getRetryPolicy(), defaults) : null,
        step.getKeepClaim(),
        Arguments.notNegative("ran_us", step.getRanUs()),
        step.getInputHash(),
        optional(step.hasProgress(), step.getProgress()));
  }

  private static Report sleep(Claim claim, ReportItem.SleepStarted sleep) {
    return switch (sleep.getLengthCase()) {
      case DURATION_MS ->
          new Report.Sleep(
              claim,
              sleep.getStepKey(),
              Arguments.notNegative("duration_ms", sleep.getDurationMs()),
              null,
              sleep.getKeepClaim());
      case UNTIL ->
          new Report.Sleep(
              claim,
              sleep.getStepKey(),
              null,
              Arguments.instant("until", sleep.getUntil()),
              sleep.getKeepClaim());
      case LENGTH_NOT_SET ->
          throw Refusal.invalid("sleep", "without a length", "duration_ms or until");
    };
  }

  private static Report childStarted(
      Claim claim, ReportItem.ChildStarted child, RetryPolicy defaults) {
    return new Report.ChildStarted(
        claim,
        child.getStepKey(),
        Arguments.positive("attempt", child.getAttempt()),
        StartMapper.readChild(child.getStart(), defaults),
        child.getDetached());
  }

  private static Report awaited(Claim claim, ReportItem.Awaited awaited) {
    return new Report.Awaited(
        claim,
        awaited.getStepKeysList(),
        awaited.getAll(),
        awaited.hasDurationMs()
            ? Long.valueOf(Arguments.notNegative("duration_ms", awaited.getDurationMs()))
            : null,
        awaited.getKeepClaim());
  }

  private static Report published(Claim claim, ReportItem.ValuesPublished published) {
    return new Report.ValuesPublished(
        claim,
        published.getValuesList().stream()
            .map(
                value ->
                    new PublishedValue(
                        value.getName(),
                        value.getScope(),
                        value.getSequence(),
                        value.getOrder(),
                        Arguments.payload(value.getValue())))
            .toList());
  }

  private static Report receive(Claim claim, ReportItem.ReceiveStarted receive) {
    return new Report.Receive(
        claim,
        receive.getStepKey(),
        receive.getSignalName(),
        receive.hasTimeoutMs()
            ? Long.valueOf(Arguments.notNegative("timeout_ms", receive.getTimeoutMs()))
            : null,
        receive.getKeepClaim());
  }

  private static Report callback(
      Claim claim, ReportItem.CallbackStarted callback, CallbackUrls callbacks) {
    return new Report.StepDone(
        claim, callback.getStepKey(), 1, StepKind.CALLBACK, null, callbacks.stored(), 0, "");
  }

  private static Report continueAsNew(Claim claim, ReportItem.ContinueAsNew next) {
    return new Report.ContinueAsNew(
        claim,
        Arguments.payload(next.getInput()),
        next.hasVersion() ? next.getVersion() : null,
        next.getOpenSteps(),
        next.getStepKey());
  }

  private static Report cancelSeen(Claim claim, ReportItem.CancelSeen seen) {
    return new Report.CancelSeen(
        claim,
        seen.getStepKey(),
        seen.getKind() == dev.kagzi.protocol.v1.StepKind.STEP_KIND_SIGNAL
            ? StepKind.SIGNAL
            : Arguments.stepKind(seen.getKind()),
        seen.getScope());
  }

  private static Report released(Claim claim, ReportItem.Released released) {
    Failure blockedBy = released.hasBlockedBy() ? Arguments.failure(released.getBlockedBy()) : null;
    return new Report.Released(
        claim, Arguments.notNegative("delay_ms", released.getDelayMs()), blockedBy);
  }

  private static @Nullable Payload optional(boolean given, dev.kagzi.protocol.v1.Payload payload) {
    return given ? Arguments.payload(payload) : null;
  }
}
