package dev.kagzi.server.web.run;

import dev.kagzi.engine.query.RunView;
import dev.kagzi.server.web.page.Links;
import java.time.Instant;
import java.util.List;

/**
 * What the page of one attempt of a step shows.
 *
 * @param attempts some of the attempts of this step, this one included
 */
public record StepModel(
    RunView run, StepRow step, List<StepRow> attempts, Links links, Instant now) {
  public StepModel {
    attempts = List.copyOf(attempts);
  }
}
