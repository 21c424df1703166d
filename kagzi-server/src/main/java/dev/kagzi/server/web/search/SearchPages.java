package dev.kagzi.server.web.search;

import dev.kagzi.engine.query.RunPlace;
import dev.kagzi.server.web.page.Flash;
import dev.kagzi.server.web.page.Links;
import dev.kagzi.server.web.page.Nav;
import dev.kagzi.server.web.page.PageGroup;
import dev.kagzi.server.web.page.PageReply;
import dev.kagzi.server.web.page.PageRequest;
import dev.kagzi.server.web.page.PageRoutes;
import java.util.List;

/** Finds a run by its id or external id in any namespace: the field at the top of every page. */
public final class SearchPages implements PageGroup {

  /** What the page shows: the runs that were found, if not exactly one. */
  public record Model(String text, List<RunPlace> places) {
    public Model {
      places = List.copyOf(places);
    }
  }

  @Override
  public void register(PageRoutes routes) {
    routes.get("/search", SearchPages::search);
  }

  private static PageReply search(PageRequest request) {
    String text = PageRequest.idText(request.query("find"));
    List<RunPlace> places = request.engine().queries().find(request.namespace(), text);
    if (places.size() == 1) {
      RunPlace place = places.getFirst();
      return PageReply.redirect(new Links(place.namespace()).run(place.runId()), Flash.NONE);
    }
    return PageReply.page(
        "search/page", request.frame(Nav.RUNS, "Find a run"), new Model(text, places));
  }
}
