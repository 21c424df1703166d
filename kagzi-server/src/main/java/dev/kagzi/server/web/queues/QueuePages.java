package dev.kagzi.server.web.queues;

import dev.kagzi.engine.page.Page;
import dev.kagzi.engine.query.QueueDetails;
import dev.kagzi.engine.query.QueueDetails.OpenRuns;
import dev.kagzi.engine.query.QueueRate;
import dev.kagzi.engine.query.QueueView;
import dev.kagzi.engine.query.ServedType;
import dev.kagzi.server.web.page.Links;
import dev.kagzi.server.web.page.Nav;
import dev.kagzi.server.web.page.PageGroup;
import dev.kagzi.server.web.page.PageReply;
import dev.kagzi.server.web.page.PageRequest;
import dev.kagzi.server.web.page.PageRoutes;
import dev.kagzi.server.web.page.Paging;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The list of task queues, and one queue with its types and who serves them. */
public final class QueuePages implements PageGroup {
  /**
   * What the list shows.
   *
   * @param rates of the last hour, by queue
   */
  public record Model(
      List<QueueView> queues,
      Map<String, QueueRate> rates,
      Paging paging,
      Links links,
      String live) {
    public Model {
      queues = List.copyOf(queues);
      rates = Map.copyOf(rates);
    }

    public QueueRate rate(QueueView queue) {
      return rates.getOrDefault(queue.queue(), new QueueRate(queue.queue(), 0, 0, 0));
    }
  }

  /** What the page of one queue shows. */
  public record OneModel(QueueDetails details, Links links) {
    public String queue() {
      return details.queue().queue();
    }

    public String live() {
      return links.to("/live/queues/queue", "queue", queue());
    }

    /** Returns how many online workers serve the type in the version. */
    public int workers(OpenRuns runs) {
      return details.served().stream()
          .filter(served -> served.isOf(runs.type(), runs.version()))
          .mapToInt(ServedType::workers)
          .sum();
    }
  }

  @Override
  public void register(PageRoutes routes) {
    routes.get("/queues", this::list);
    routes.live("/queues", request -> PageReply.fragment("queues/table", model(request)));
    routes.get("/queues/queue", QueuePages::one);
    routes.live("/queues/queue", request -> PageReply.fragment("queues/state", details(request)));
  }

  private PageReply list(PageRequest request) {
    return PageReply.page("queues/list", request.frame(Nav.QUEUES, "Queues"), model(request));
  }

  private static Model model(PageRequest request) {
    Page<QueueView> page =
        request.engine().queries().queues(request.namespace(), request.pageSpec());
    List<String> names = page.items().stream().map(QueueView::queue).toList();
    Map<String, QueueRate> rates =
        request.engine().queries().queueRates(request.namespace(), names).stream()
            .collect(Collectors.toMap(QueueRate::queue, Function.identity()));
    return new Model(
        page.items(), rates, Paging.of(request, page), request.links(), request.live("page"));
  }

  private static PageReply one(PageRequest request) {
    String title = "Queue " + request.query("queue");
    return PageReply.page("queues/queue", request.frame(Nav.QUEUES, title), details(request));
  }

  private static OneModel details(PageRequest request) {
    return new OneModel(
        request.engine().queries().queue(request.namespace(), request.query("queue")),
        request.links());
  }
}
