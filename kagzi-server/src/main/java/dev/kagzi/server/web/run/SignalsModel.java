package dev.kagzi.server.web.run;

import dev.kagzi.engine.query.RunView;
import dev.kagzi.server.web.page.Links;
import dev.kagzi.server.web.page.Paging;
import dev.kagzi.server.web.page.Problem;
import java.time.Instant;
import java.util.List;
import java.util.Set;

/**
 * What the page of a run's signals shows.
 *
 * @param awaited the names that the run waits for
 */
public record SignalsModel(
    RunView run,
    List<SignalRow> rows,
    long count,
    Paging paging,
    Set<String> awaited,
    SignalForm form,
    Problem problem,
    Links links,
    Instant now) {

  public SignalsModel {
    rows = List.copyOf(rows);
    awaited = Set.copyOf(awaited);
  }

  public StepLinks stepLinks() {
    return new StepLinks(links, run.runId());
  }

  public boolean isOpen() {
    return !run.status().isFinal();
  }
}
