package dev.kagzi.server.web.run;

import dev.kagzi.engine.query.StepView;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.server.web.page.Links;

/** Links to the pages and files below one run. */
public record StepLinks(Links links, RunId run) {

  public String step(StepView step) {
    return step("/step", step.stepId().stepKey(), step.attemptNumber());
  }

  public String step(String key, int attempt) {
    return step("/step", key, attempt);
  }

  private String step(String path, String key, int attempt) {
    return links.to("/runs/" + run + path, "key", key, "attempt", Integer.toString(attempt));
  }

  /** Returns the link to the bytes of a payload: {@code input}, {@code output}, … of the run. */
  public String payload(String of) {
    return links.to("/runs/" + run + "/payload", "of", of);
  }

  /** Returns the link to the bytes of a published value. */
  public String published(String name) {
    return links.to("/runs/" + run + "/payload", "of", "published", "name", name);
  }

  /** Returns the link to the bytes of a payload of an attempt. */
  public String payload(String of, StepView step) {
    return links.to(
        "/runs/" + run + "/payload",
        "of",
        of,
        "key",
        step.stepId().stepKey(),
        "attempt",
        Integer.toString(step.attemptNumber()));
  }

  public String signals() {
    return links.to("/runs/" + run + "/signals");
  }

  public String signal(int number) {
    return links.to("/runs/" + run + "/signal", "number", Integer.toString(number));
  }

  /** Returns the link to the form that answers a callback. */
  public String callback(String key) {
    return links.to("/runs/" + run + "/callback", "key", key);
  }

  /** Returns the link to the bytes of a signal's value. */
  public String signalPayload(int number) {
    return links.to("/runs/" + run + "/signal/payload", "number", Integer.toString(number));
  }

  public String payloads() {
    return links.to("/runs/" + run + "/payloads");
  }

  public String history() {
    return links.to("/runs/" + run + "/history");
  }

  /** Returns the path of an action; its form names the namespace. */
  public String action(String name) {
    return "/runs/" + run + "/" + name;
  }
}
