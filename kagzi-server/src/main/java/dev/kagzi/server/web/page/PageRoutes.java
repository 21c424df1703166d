package dev.kagzi.server.web.page;

/**
 * Where a {@link PageGroup} registers its pages. A path may have parameters in braces: {@code
 * /runs/{run}}. Only ids belong there; names that users choose may have any character and belong in
 * the query.
 */
public interface PageRoutes {

  /** A page, or a fragment that htmx loads. Must not change anything. */
  void get(String path, PageHandler page);

  /** An action. Its form must contain {@code @template.part.csrf(frame = frame)}. */
  void post(String path, PageHandler action);

  /**
   * A fragment that is sent to open pages again whenever it has changed, at most every two seconds.
   * All viewers of the same URL share one rendering, so the fragment must not depend on the viewer:
   * it has no forms. A page shows it in an element with the attribute {@code data-live}.
   */
  void live(String path, PageHandler fragment);
}
