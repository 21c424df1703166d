package dev.kagzi.server.grpc;

import dev.kagzi.engine.value.RecordedStep;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.server.callback.CallbackId;
import dev.kagzi.server.callback.CallbackUrls;

/**
 * Converts the recorded steps of a run for the worker that executes it. Only a worker gets the URLs
 * of callbacks, which contain secrets.
 */
record WorkerSteps(String namespace, RunId runId, CallbackUrls callbacks) {

  dev.kagzi.protocol.v1.RecordedStep step(RecordedStep step) {
    dev.kagzi.protocol.v1.RecordedStep message = ResponseMapper.recordedStep(step);
    if (step.kind() == StepKind.CALLBACK
        && step.result() instanceof RecordedStep.Result.Output(var stored)) {
      return message.toBuilder()
          .setCallbackUrl(callbacks.url(new CallbackId(namespace, runId, step.stepKey()), stored))
          .build();
    }
    return message;
  }
}
