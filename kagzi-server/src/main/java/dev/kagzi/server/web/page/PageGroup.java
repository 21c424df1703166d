package dev.kagzi.server.web.page;

/**
 * Pages that belong together, for example a list and the page of one of its items. {@code
 * Dashboard} has the list of all groups.
 */
public interface PageGroup {
  void register(PageRoutes routes);
}
