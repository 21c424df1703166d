package dev.kagzi.server.web.run;

import dev.kagzi.engine.query.CallbackView;
import dev.kagzi.engine.query.RunView;
import dev.kagzi.server.web.page.Links;
import dev.kagzi.server.web.page.Problem;
import org.jspecify.annotations.Nullable;

/**
 * What the form that answers a callback shows.
 *
 * @param key the step that made the callback
 * @param failure the message of a failed answer; empty for a value
 * @param answer the answer that the callback already has; null for none
 */
public record CallbackModel(
    RunView run,
    String key,
    String payload,
    String failure,
    @Nullable CallbackView answer,
    Problem problem,
    Links links) {

  public StepLinks stepLinks() {
    return new StepLinks(links, run.runId());
  }

  public boolean isOpen() {
    return !run.status().isFinal() && answer == null;
  }
}
