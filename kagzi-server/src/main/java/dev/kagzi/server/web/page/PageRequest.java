package dev.kagzi.server.web.page;

import dev.kagzi.engine.Engine;
import dev.kagzi.engine.namespace.NamespaceView;
import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.value.Refusal;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A request of a browser that may see the page: token, host, origin and the form's token were
 * checked.
 *
 * @param path of the URL, without the query
 * @param parameters the values of the path's parameters
 * @param query the values after the question mark
 * @param form the values of the sent form; empty for a GET
 */
public record PageRequest(
    Engine engine,
    String path,
    Map<String, String> parameters,
    Map<String, List<String>> query,
    Map<String, List<String>> form,
    Viewer viewer,
    Instant now) {

  private static final int PAGE_SIZE = 50;
  private static final int NAMESPACES_MAX = 100;
  static final String NAMESPACE = "namespace";
  static final String NAMESPACE_DEFAULT = "default";
  static final String PAGE = "page";

  /** What the paths of live streams begin with. */
  public static final String LIVE = "/live";

  /**
   * The browser behind a request.
   *
   * @param formToken what forms must send back
   * @param mayLogOut whether there is a session to end
   * @param flash the message of the last action; empty for none
   */
  public record Viewer(String formToken, boolean mayLogOut, String version, Flash flash) {}

  public PageRequest {
    parameters = Map.copyOf(parameters);
    query = Map.copyOf(query);
    form = Map.copyOf(form);
  }

  /** Returns the namespace that the page is about: of the query or of the form. */
  public String namespace() {
    String named = query(NAMESPACE).isEmpty() ? form(NAMESPACE) : query(NAMESPACE);
    return named.isEmpty() ? NAMESPACE_DEFAULT : named;
  }

  /** Returns a parameter of the path. */
  public String parameter(String name) {
    String value = parameters.get(name);
    if (value == null) {
      throw new IllegalArgumentException(
          "parameter: " + name + " (expected: one of " + parameters.keySet() + ")");
    }
    return value;
  }

  /** Returns the first value in the query, without surrounding spaces; empty for none. */
  public String query(String name) {
    return first(query, name);
  }

  public List<String> queryAll(String name) {
    return query.getOrDefault(name, List.of());
  }

  /** Returns the first value in the form, without surrounding spaces; empty for none. */
  public String form(String name) {
    return first(form, name);
  }

  public List<String> formAll(String name) {
    return form.getOrDefault(name, List.of());
  }

  private static String first(Map<String, List<String>> values, String name) {
    List<String> all = values.getOrDefault(name, List.of());
    return all.isEmpty() ? "" : all.getFirst().strip();
  }

  /**
   * Returns an id that a person has entered, without the ellipsis that replaces the beginning of a
   * shortened id.
   */
  public static String idText(String entered) {
    String text = entered.strip();
    return text.startsWith("…") ? text.substring(1) : text;
  }

  /** Returns the page of a list that the query asks for. */
  public PageSpec pageSpec() {
    return new PageSpec(PAGE_SIZE, query(PAGE), false, false);
  }

  /**
   * Returns the frame around a page of the request's namespace.
   *
   * @throws Refusal if there is no such namespace
   */
  public Frame frame(Nav active, String title) {
    NamespaceView namespace = engine.namespaces().get(namespace());
    List<NamespaceView> all =
        engine.namespaces().list(new PageSpec(NAMESPACES_MAX, "", false, false)).items();
    return new Frame(
        title,
        active,
        namespace.namespace(),
        !namespace.enabled(),
        all.stream().map(NamespaceView::namespace).toList(),
        all.stream()
            .filter(each -> !each.enabled())
            .map(NamespaceView::namespace)
            .collect(Collectors.toSet()),
        viewer,
        now);
  }

  /** Returns a frame that needs no database: for errors and the login. */
  public static Frame bareFrame(String title, Viewer viewer, Instant now) {
    return new Frame(title, Nav.NONE, NAMESPACE_DEFAULT, false, List.of(), Set.of(), viewer, now);
  }

  /**
   * Returns the link to the live stream of the page.
   *
   * @param names the values of the query that it depends on
   */
  public String live(String... names) {
    String[] values = new String[2 * names.length];
    for (int i = 0; i < names.length; i++) {
      values[2 * i] = names[i];
      values[2 * i + 1] = query(names[i]);
    }
    return links().to(LIVE + path, values);
  }

  /** Returns links in the request's namespace. */
  public Links links() {
    return new Links(namespace());
  }
}
