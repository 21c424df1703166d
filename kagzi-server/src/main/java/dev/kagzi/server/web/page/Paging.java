package dev.kagzi.server.web.page;

import dev.kagzi.engine.page.Page;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Links to the pages before and after one; empty for none. */
public record Paging(String previous, String next) {

  /** Keeps everything else that the request's query has. */
  public static Paging of(PageRequest request, Page<?> page) {
    return new Paging(
        page.prevToken().isEmpty() ? "" : with(request, page.prevToken()),
        page.hasMore() ? with(request, page.nextToken()) : "");
  }

  private static String with(PageRequest request, String token) {
    List<String> query = new ArrayList<>();
    for (Map.Entry<String, List<String>> entry : request.query().entrySet()) {
      if (entry.getKey().equals(PageRequest.PAGE) || entry.getKey().equals(PageRequest.NAMESPACE)) {
        continue;
      }
      entry.getValue().forEach(value -> query.addAll(List.of(entry.getKey(), value)));
    }
    query.addAll(List.of(PageRequest.PAGE, token));
    return request.links().to(request.path(), query.toArray(String[]::new));
  }

  public boolean isNeeded() {
    return !previous.isEmpty() || !next.isEmpty();
  }
}
