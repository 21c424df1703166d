package dev.kagzi.server.web.run;

import dev.kagzi.engine.query.RunPlace;
import java.time.Instant;
import java.util.List;

/** What the page of a run shows if the run is not in the requested namespace, but in others. */
public record MissingModel(String message, List<RunPlace> places, Instant now) {
  public MissingModel {
    places = List.copyOf(places);
  }
}
