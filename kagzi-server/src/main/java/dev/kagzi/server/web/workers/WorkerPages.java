package dev.kagzi.server.web.workers;

import dev.kagzi.engine.page.Page;
import dev.kagzi.engine.query.ExecutedRun;
import dev.kagzi.engine.query.WorkerEvent;
import dev.kagzi.engine.query.WorkerView;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.value.WorkerStatus;
import dev.kagzi.server.web.page.Frame;
import dev.kagzi.server.web.page.Links;
import dev.kagzi.server.web.page.Nav;
import dev.kagzi.server.web.page.PageGroup;
import dev.kagzi.server.web.page.PageReply;
import dev.kagzi.server.web.page.PageRequest;
import dev.kagzi.server.web.page.PageRoutes;
import dev.kagzi.server.web.page.Paging;
import dev.kagzi.server.web.page.Show;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The list of workers, and one worker with its events. */
public final class WorkerPages implements PageGroup {

  /** What the list is limited to; empty for all. */
  public record Search(String queue, String status) {
    static Search of(PageRequest request) {
      return new Search(request.query("queue"), request.query("status"));
    }

    public boolean isEmpty() {
      return (queue + status).isEmpty();
    }

    private @Nullable WorkerStatus wanted() {
      return status.isEmpty()
          ? null
          : Arrays.stream(WorkerStatus.values())
              .filter(known -> known.name().equals(status))
              .findFirst()
              .orElseThrow(
                  () -> Refusal.invalid("status", status, Arrays.toString(WorkerStatus.values())));
    }
  }

  /** What the list shows. */
  public record ListModel(
      Search search,
      List<WorkerView> workers,
      Paging paging,
      Links links,
      String live,
      Instant now) {
    public ListModel {
      workers = List.copyOf(workers);
    }

    public List<WorkerStatus> statuses() {
      return List.of(WorkerStatus.values());
    }
  }

  /**
   * What the page of one worker shows.
   *
   * @param executed some of the runs that it executes now, the longest-held first
   */
  public record OneModel(
      WorkerView worker,
      List<ExecutedRun> executed,
      List<WorkerEvent> events,
      Paging paging,
      Links links,
      Instant now) {
    public OneModel {
      executed = List.copyOf(executed);
      events = List.copyOf(events);
    }

    public String href(String action) {
      return links.to("/workers/" + worker.workerId() + action);
    }

    public String live() {
      return links.to("/live/workers/" + worker.workerId());
    }

    public String title() {
      return WorkerPages.title(worker);
    }

    /** Returns the labels, sorted. */
    public Map<String, String> labels() {
      return new TreeMap<>(worker.labels());
    }

    /** Returns the list of all runs that the worker executes. */
    public String executedHref() {
      return links.to("/runs", "queue", worker.taskQueue(), "worker", worker.workerId().toString());
    }

    /** Returns the number of runs that the worker executes, such as "1 run". */
    public String held() {
      return Show.runs(worker.activeWorkflowCount());
    }
  }

  @Override
  public void register(PageRoutes routes) {
    routes.get("/workers", WorkerPages::list);
    routes.live("/workers", request -> PageReply.fragment("workers/table", model(request)));
    routes.get("/workers/{worker}", WorkerPages::one);
    routes.live(
        "/workers/{worker}",
        request -> PageReply.fragment("workers/state", state(request, find(request))));
    new WorkerActions().register(routes);
  }

  static WorkerId id(PageRequest request) {
    String text = request.parameter("worker");
    return WorkerId.parse(text)
        .orElseThrow(() -> Refusal.invalid("worker", text, "the id of a worker"));
  }

  static String href(PageRequest request) {
    return request.links().to("/workers/" + id(request));
  }

  private static WorkerView find(PageRequest request) {
    return request.engine().queries().worker(request.namespace(), id(request));
  }

  /** Returns the host and process of the worker, or a short id if it has not reported a host. */
  public static String title(WorkerView worker) {
    return worker.hostname().isEmpty()
        ? Show.shortId(worker.workerId())
        : worker.hostname() + (worker.pid() == 0 ? "" : " " + worker.pid());
  }

  private static PageReply list(PageRequest request) {
    Frame frame = request.frame(Nav.WORKERS, "Workers");
    return PageReply.page("workers/list", frame, model(request));
  }

  private static ListModel model(PageRequest request) {
    Search search = Search.of(request);
    Page<WorkerView> page =
        request
            .engine()
            .queries()
            .workers(
                request.namespace(),
                search.queue().isEmpty() ? null : search.queue(),
                search.wanted(),
                request.pageSpec());
    String live = request.live("queue", "status", "page");
    return new ListModel(
        search, page.items(), Paging.of(request, page), request.links(), live, request.now());
  }

  private static PageReply one(PageRequest request) {
    WorkerView worker = find(request);
    Frame frame = request.frame(Nav.WORKERS, "Worker " + title(worker));
    return PageReply.page("workers/one", frame, model(request, worker));
  }

  /** Returns what is live: all but the events. */
  private static OneModel state(PageRequest request, WorkerView worker) {
    return new OneModel(
        worker,
        executed(request, worker),
        List.of(),
        new Paging("", ""),
        request.links(),
        request.now());
  }

  private static OneModel model(PageRequest request, WorkerView worker) {
    Page<WorkerEvent> events =
        request
            .engine()
            .queries()
            .workerEvents(request.namespace(), worker.workerId(), request.pageSpec());
    return new OneModel(
        worker,
        executed(request, worker),
        events.items(),
        Paging.of(request, events),
        request.links(),
        request.now());
  }

  private static List<ExecutedRun> executed(PageRequest request, WorkerView worker) {
    return worker.status() == WorkerStatus.OFFLINE
        ? List.of()
        : request.engine().queries().executedBy(worker);
  }
}
