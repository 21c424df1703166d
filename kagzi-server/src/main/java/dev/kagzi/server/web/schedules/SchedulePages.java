package dev.kagzi.server.web.schedules;

import dev.kagzi.engine.page.Page;
import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.query.RunFilter;
import dev.kagzi.engine.query.RunView;
import dev.kagzi.engine.schedule.ScheduleView;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.server.web.page.Frame;
import dev.kagzi.server.web.page.Links;
import dev.kagzi.server.web.page.Nav;
import dev.kagzi.server.web.page.PageGroup;
import dev.kagzi.server.web.page.PageReply;
import dev.kagzi.server.web.page.PageRequest;
import dev.kagzi.server.web.page.PageRoutes;
import dev.kagzi.server.web.page.Paging;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The list of schedules, and one schedule with its next fires and its latest runs. */
public final class SchedulePages implements PageGroup {
  private static final int RUNS_MAX = 10;

  /** What the list is limited to; empty for all. */
  public record Search(String type, String queue, String state) {
    static Search of(PageRequest request) {
      return new Search(request.query("type"), request.query("queue"), request.query("state"));
    }

    public boolean isEmpty() {
      return (type + queue + state).isEmpty();
    }

    private @Nullable Boolean enabled() {
      return switch (state) {
        case "" -> null;
        case "enabled" -> true;
        case "paused" -> false;
        default -> throw Refusal.invalid("state", state, "enabled or paused");
      };
    }
  }

  /** What the list shows. */
  public record ListModel(
      Search search,
      List<ScheduleView> schedules,
      Paging paging,
      Links links,
      String live,
      Instant now) {
    public ListModel {
      schedules = List.copyOf(schedules);
    }
  }

  /**
   * What the page of one schedule shows.
   *
   * @param runs the latest, newest first
   */
  public record OneModel(
      ScheduleView schedule, Preview preview, List<RunView> runs, Links links, Instant now) {
    public OneModel {
      runs = List.copyOf(runs);
    }

    public String title() {
      return ScheduleNames.title(schedule);
    }

    public String href(String action) {
      return links.to("/schedules/" + schedule.id() + action);
    }

    public String live() {
      return links.to("/live/schedules/" + schedule.id());
    }

    /**
     * Returns the id of the run that a button starts, so that a button that is pressed twice starts
     * one run.
     */
    public String newRun() {
      return RunId.next(schedule.id().shard()).toString();
    }
  }

  @Override
  public void register(PageRoutes routes) {
    routes.get("/schedules", SchedulePages::list);
    routes.live("/schedules", request -> PageReply.fragment("schedules/table", model(request)));
    // Registered before the path with a parameter, which would also match /schedules/new.
    new ScheduleEditing().register(routes);
    routes.get("/schedules/{schedule}", SchedulePages::one);
    routes.live(
        "/schedules/{schedule}",
        request ->
            PageReply.fragment("schedules/state", model(request, ScheduleNames.find(request))));
    new ScheduleActions().register(routes);
  }

  private static PageReply list(PageRequest request) {
    Frame frame = request.frame(Nav.SCHEDULES, "Schedules");
    return PageReply.page("schedules/list", frame, model(request));
  }

  private static ListModel model(PageRequest request) {
    Search search = Search.of(request);
    Page<ScheduleView> page =
        request
            .engine()
            .schedules()
            .list(
                request.namespace(),
                search.queue().isEmpty() ? null : search.queue(),
                search.type().isEmpty() ? null : search.type(),
                search.enabled(),
                request.pageSpec());
    String live = request.live("type", "queue", "state", "page");
    return new ListModel(
        search, page.items(), Paging.of(request, page), request.links(), live, request.now());
  }

  private static PageReply one(PageRequest request) {
    ScheduleView schedule = ScheduleNames.find(request);
    Frame frame = request.frame(Nav.SCHEDULES, "Schedule " + ScheduleNames.title(schedule));
    return PageReply.page("schedules/one", frame, model(request, schedule));
  }

  private static OneModel model(PageRequest request, ScheduleView schedule) {
    List<RunView> runs =
        request
            .engine()
            .queries()
            .runs(
                RunFilter.ofSchedule(request.namespace(), schedule.id().value()),
                new PageSpec(RUNS_MAX, "", false, false))
            .items();
    return new OneModel(
        schedule,
        Preview.of(request.engine().schedules(), schedule, request.now()),
        runs,
        request.links(),
        request.now());
  }
}
