package dev.kagzi.server.web.overview;

import dev.kagzi.engine.query.Activity;
import dev.kagzi.engine.query.Health;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.server.web.page.Links;
import dev.kagzi.server.web.page.Nav;
import dev.kagzi.server.web.page.PageGroup;
import dev.kagzi.server.web.page.PageReply;
import dev.kagzi.server.web.page.PageRequest;
import dev.kagzi.server.web.page.PageRoutes;
import java.time.Instant;
import java.util.List;

/** The overview of a namespace. */
public final class OverviewPages implements PageGroup {
  private static final List<RunStatus> STATUSES =
      List.of(
          RunStatus.PENDING,
          RunStatus.RUNNING,
          RunStatus.SLEEPING,
          RunStatus.COMPLETED,
          RunStatus.FAILED,
          RunStatus.TIMED_OUT,
          RunStatus.CANCELLED);

  private final AttentionLimits limits;

  public OverviewPages(AttentionLimits limits) {
    this.limits = limits;
  }

  /**
   * What the page shows.
   *
   * @param isDisabled whether the namespace is disabled; shown in the live part of this page,
   *     because the frame is not updated
   */
  public record Model(
      boolean isDisabled,
      Activity activity,
      Health health,
      RateChart chart,
      List<Attention> attention,
      Links links,
      Instant now) {
    public Model {
      attention = List.copyOf(attention);
    }

    public List<RunStatus> statuses() {
      return STATUSES;
    }
  }

  @Override
  public void register(PageRoutes routes) {
    routes.get("/", this::show);
    routes.live("/overview", request -> PageReply.fragment("overview/content", model(request)));
  }

  private PageReply show(PageRequest request) {
    return PageReply.page("overview/page", request.frame(Nav.OVERVIEW, "Overview"), model(request));
  }

  private Model model(PageRequest request) {
    String namespace = request.namespace();
    boolean isDisabled = !request.engine().namespaces().get(namespace).enabled();
    Activity activity = request.engine().queries().activity(namespace);
    Health health = request.engine().queries().health(namespace);
    return new Model(
        isDisabled,
        activity,
        health,
        RateChart.of(activity),
        new Attention.Finder(limits, request.links(), isDisabled).find(activity, health),
        request.links(),
        request.now());
  }
}
