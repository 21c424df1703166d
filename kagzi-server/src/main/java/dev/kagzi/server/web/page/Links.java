package dev.kagzi.server.web.page;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;

/** Links to pages of one namespace. */
public record Links(String namespace) {

  /**
   * Returns a link with values in its query.
   *
   * @param query names and values in turn; empty values are left out
   */
  public String to(String path, String... query) {
    StringBuilder href = new StringBuilder(path);
    if (!namespace.equals(PageRequest.NAMESPACE_DEFAULT)) {
      add(href, PageRequest.NAMESPACE, namespace);
    }
    for (int i = 0; i < query.length; i += 2) {
      if (!query[i + 1].isEmpty()) {
        add(href, query[i], query[i + 1]);
      }
    }
    return href.toString();
  }

  public String run(Object runId) {
    return to("/runs/" + runId);
  }

  private static void add(StringBuilder href, String name, String value) {
    href.append(href.indexOf("?") < 0 ? '?' : '&')
        .append(name)
        .append('=')
        .append(URLEncoder.encode(value, StandardCharsets.UTF_8));
  }
}
