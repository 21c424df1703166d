package dev.kagzi.server.web.run;

import dev.kagzi.engine.query.RunView;
import dev.kagzi.server.web.page.Links;
import java.time.Instant;

/** What the page of one signal shows. */
public record SignalModel(RunView run, SignalRow signal, Links links, Instant now) {}
