package dev.kagzi.server.web.runs;

import dev.kagzi.engine.page.Page;
import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.query.Queries;
import dev.kagzi.engine.query.RunCount;
import dev.kagzi.engine.query.RunPlace;
import dev.kagzi.engine.query.RunView;
import dev.kagzi.engine.query.TypeView;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.server.web.page.Frame;
import dev.kagzi.server.web.page.Links;
import dev.kagzi.server.web.page.Nav;
import dev.kagzi.server.web.page.PageGroup;
import dev.kagzi.server.web.page.PageReply;
import dev.kagzi.server.web.page.PageRequest;
import dev.kagzi.server.web.page.PageRoutes;
import dev.kagzi.server.web.page.Paging;
import dev.kagzi.server.web.page.Show;
import java.util.List;
import java.util.UUID;

/** The list of runs, and actions on many of them. */
public final class RunListPages implements PageGroup {
  private static final int TYPES_MAX = 100;
  private static final Page<RunView> NO_RUNS = new Page<>(List.of(), "", "", false, 0);

  /**
   * What the list shows.
   *
   * @param types names to choose from
   * @param places runs with the id that is searched for, if the list has none: of other namespaces,
   *     or ones that other filters exclude
   */
  public record ListModel(
      RunSearch search,
      List<RunView> runs,
      RunCount count,
      Paging paging,
      List<String> types,
      List<RunPlace> places) {
    public ListModel {
      runs = List.copyOf(runs);
      places = List.copyOf(places);
      types = List.copyOf(types);
    }

    public List<RunStatus> statuses() {
      return RunSearch.STATUSES;
    }

    public List<RunAction> actions() {
      return List.of(RunAction.values());
    }

    /** Returns the number of matching runs, such as "1 run" or "10,000+ runs". */
    public String counted() {
      return RunListPages.counted(count.runs(), count.isExact());
    }

    /** Returns how long a run took, from its creation to its end; a dash while it is open. */
    public String took(RunView run) {
      return run.finishedAt() == null
          ? "–"
          : Show.duration(java.time.Duration.between(run.createdAt(), run.finishedAt()));
    }
  }

  /**
   * What the confirmation page of an action shows.
   *
   * @param back the link to follow instead of confirming
   */
  public record PlanModel(
      RunAction action,
      int runs,
      long others,
      boolean isCut,
      String encodedRuns,
      String operation,
      String back) {
    public String counted() {
      return RunListPages.counted(runs, true);
    }
  }

  /** What the progress and the summary of an action show. */
  public record WorkModel(Frame frame, BulkWork work, String back) {
    public Links links() {
      return frame.links();
    }
  }

  private static String counted(long runs, boolean isExact) {
    return Show.number(runs) + (isExact ? "" : "+") + (runs == 1 ? " run" : " runs");
  }

  @Override
  public void register(PageRoutes routes) {
    routes.get("/runs", RunListPages::list);
    routes.post("/runs/plan", RunListPages::plan);
    routes.post("/runs/act", RunListPages::act);
  }

  private static PageReply list(PageRequest request) {
    Frame frame = request.frame(Nav.RUNS, "Runs");
    RunSearch search = RunSearch.ofQuery(request);
    Queries queries = request.engine().queries();
    RunId one = search.runId();
    Page<RunView> page = one == null ? NO_RUNS : find(request, one);
    RunCount count =
        one == null ? queries.count(search.filter()) : new RunCount(page.items().size(), true);
    // The count is checked first: if no run has the type, queue or version, the list query would
    // read all runs of the namespace to find none.
    if (one == null && count.runs() > 0) {
      page = queries.runs(search.filter(), request.pageSpec());
    }
    List<String> types =
        queries
            .types(request.namespace(), new PageSpec(TYPES_MAX, "", false, false))
            .items()
            .stream()
            .map(TypeView::type)
            .toList();
    return PageReply.page(
        "runs/list",
        frame,
        new ListModel(
            search,
            page.items(),
            count,
            Paging.of(request, page),
            types,
            page.items().isEmpty() ? queries.find(request.namespace(), search.id()) : List.of()));
  }

  private static Page<RunView> find(PageRequest request, RunId one) {
    try {
      RunView run = request.engine().queries().run(request.namespace(), one);
      return new Page<>(List.of(run), "", "", false, 1);
    } catch (Refusal refusal) {
      if (refusal.reason() != Refusal.Reason.NOT_FOUND) {
        throw refusal;
      }
      return NO_RUNS;
    }
  }

  private static PageReply plan(PageRequest request) {
    RunAction action = RunAction.parse(request.form("action"));
    RunSearch search = RunSearch.ofForm(request);
    Frame frame = request.frame(Nav.RUNS, action.label() + " runs");
    Queries queries = request.engine().queries();
    BulkPlan plan =
        request.form("scope").equals("all")
            ? BulkPlan.ofAll(queries, search, action)
            : BulkPlan.ofChosen(queries, request.namespace(), chosen(request), action);
    return PageReply.page(
        "runs/plan",
        frame,
        new PlanModel(
            action,
            plan.runs().size(),
            plan.others(),
            plan.isCut(),
            RunIdList.encode(plan.runs()),
            UUID.randomUUID().toString(),
            request.links().to("/runs", search.query())));
  }

  private static List<RunId> chosen(PageRequest request) {
    List<RunId> chosen =
        request.formAll("run").stream()
            .map(
                text ->
                    RunId.parse(text)
                        .orElseThrow(() -> Refusal.invalid("run", text, "the id of a run")))
            .toList();
    if (chosen.isEmpty()) {
      throw Refusal.invalid("runs", "none", "at least one checked in the list, or all that match");
    }
    return chosen;
  }

  /**
   * With JavaScript, each request changes a part of the runs, and its response makes the browser
   * send the next one. Without, one request changes all of them.
   */
  private static PageReply act(PageRequest request) {
    boolean isPart = request.form("part").equals("true");
    BulkWork work = BulkWork.of(request);
    Frame frame = request.frame(Nav.RUNS, work.action().label() + " runs");
    do {
      work = work.next(request.engine(), request.namespace());
    } while (!isPart && !work.isFinished());
    WorkModel model = new WorkModel(frame, work, back(request));
    return isPart
        ? PageReply.fragment("runs/work", model)
        : PageReply.page("runs/summary", frame, model);
  }

  // The link is sent back by the form, so it is checked again.
  private static String back(PageRequest request) {
    String back = request.form("back");
    return back.startsWith("/runs") ? back : request.links().to("/runs");
  }
}
