package dev.kagzi.server.web.page;

import java.time.Instant;
import java.util.List;
import java.util.Set;

/**
 * What is around every page: title, navigation, namespace switch, message of the last action.
 *
 * @param isDisabled whether the namespace is disabled; the frame shows it, except on the overview,
 *     which shows it itself, and on the pages of namespaces
 * @param namespaces the namespaces that a user can switch to; the number is limited
 * @param disabled which of {@code namespaces} are disabled
 * @param now the time that relative times are relative to
 */
public record Frame(
    String title,
    Nav active,
    String namespace,
    boolean isDisabled,
    List<String> namespaces,
    Set<String> disabled,
    PageRequest.Viewer viewer,
    Instant now) {

  public Frame {
    namespaces = List.copyOf(namespaces);
    disabled = Set.copyOf(disabled);
  }

  public Links links() {
    return new Links(namespace);
  }

  public String href(String path, String... query) {
    return links().to(path, query);
  }

  /** Returns the link to the active navigation entry in another namespace. */
  public String switchTo(String other) {
    return new Links(other).to(active == Nav.NONE ? "/" : active.path());
  }
}
