package dev.kagzi.server.web.page;

import java.util.Arrays;
import java.util.List;

/** The entries of the navigation, in their order. */
public enum Nav {
  NONE("", ""),
  OVERVIEW("Overview", "/"),
  RUNS("Runs", "/runs"),
  SCHEDULES("Schedules", "/schedules"),
  WORKERS("Workers", "/workers"),
  QUEUES("Queues", "/queues"),
  TYPES("Types", "/types"),
  NAMESPACES("Namespaces", "/namespaces");

  private final String title;
  private final String path;

  Nav(String title, String path) {
    this.title = title;
    this.path = path;
  }

  public String title() {
    return title;
  }

  public String path() {
    return path;
  }

  public static List<Nav> entries() {
    return Arrays.stream(values()).filter(entry -> !entry.path.isEmpty()).toList();
  }
}
