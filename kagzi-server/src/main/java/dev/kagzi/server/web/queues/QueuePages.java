package dev.kagzi.server.web.queues;

import dev.kagzi.engine.page.Page;
import dev.kagzi.engine.query.QueueView;
import dev.kagzi.server.web.page.Links;
import dev.kagzi.server.web.page.Nav;
import dev.kagzi.server.web.page.PageGroup;
import dev.kagzi.server.web.page.PageReply;
import dev.kagzi.server.web.page.PageRequest;
import dev.kagzi.server.web.page.PageRoutes;
import dev.kagzi.server.web.page.Paging;
import java.util.List;

/** The list of task queues: their runs, their workers, and how long runs wait. */
public final class QueuePages implements PageGroup {

  /** What the list shows. */
  public record Model(List<QueueView> queues, Paging paging, Links links, String live) {
    public Model {
      queues = List.copyOf(queues);
    }
  }

  @Override
  public void register(PageRoutes routes) {
    routes.get("/queues", this::list);
    routes.live("/queues", request -> PageReply.fragment("queues/table", model(request)));
  }

  private PageReply list(PageRequest request) {
    return PageReply.page("queues/list", request.frame(Nav.QUEUES, "Queues"), model(request));
  }

  private static Model model(PageRequest request) {
    Page<QueueView> page =
        request.engine().queries().queues(request.namespace(), request.pageSpec());
    return new Model(
        page.items(),
        Paging.of(request, page),
        request.links(),
        request.links().to("/live/queues", "page", request.query("page")));
  }
}
