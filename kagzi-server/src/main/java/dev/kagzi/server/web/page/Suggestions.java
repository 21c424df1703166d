package dev.kagzi.server.web.page;

import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.query.Queries;
import dev.kagzi.engine.query.ServedType;
import java.util.Set;
import java.util.TreeSet;

/** Names that a form suggests: those of runs and workers of the namespace. */
public record Suggestions(Set<String> types, Set<String> queues) {
  private static final int NAMES_MAX = 100;

  // The server starts this type itself and refuses it from others.
  private static final String FAILURE_HANDLER = "__kagzi_failure_handler";

  public static Suggestions of(PageRequest request) {
    Queries queries = request.engine().queries();
    PageSpec first = new PageSpec(NAMES_MAX, "", false, false);
    Set<String> types = new TreeSet<>();
    Set<String> queues = new TreeSet<>();
    queries.types(request.namespace(), first).items().forEach(type -> types.add(type.type()));
    queries.queues(request.namespace(), first).items().forEach(queue -> queues.add(queue.queue()));
    for (ServedType served : queries.served(request.namespace(), null, null)) {
      types.add(served.type());
      queues.add(served.queue());
    }
    types.remove(FAILURE_HANDLER);
    return new Suggestions(types, queues);
  }
}
