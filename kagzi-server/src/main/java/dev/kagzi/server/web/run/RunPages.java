package dev.kagzi.server.web.run;

import dev.kagzi.engine.page.Page;
import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.query.Queries;
import dev.kagzi.engine.query.RunView;
import dev.kagzi.engine.query.StepView;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepRef;
import dev.kagzi.server.web.page.Flash;
import dev.kagzi.server.web.page.Links;
import dev.kagzi.server.web.page.Nav;
import dev.kagzi.server.web.page.PageGroup;
import dev.kagzi.server.web.page.PageReply;
import dev.kagzi.server.web.page.PageRequest;
import dev.kagzi.server.web.page.PageRoutes;
import dev.kagzi.server.web.page.Paging;
import dev.kagzi.server.web.page.Show;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One run: its facts, time line, steps and payloads, and what can be done with it. */
public final class RunPages implements PageGroup {
  private static final int STEPS_MAX = 50;
  private static final String PATH = "/runs/{run}";
  private static final String PAGE = "page";
  private static final String FIRST = "first";
  private static final String NEWEST = "newest";
  private static final String STEP = "step";
  private static final String OPEN = "open";

  @Override
  public void register(PageRoutes routes) {
    routes.get(PATH, this::show);
    routes.live(PATH, request -> PageReply.fragment("run/progress", model(request)));
    routes.get(PATH + "/step", RunPages::step);
    routes.get(PATH + "/payloads", this::payloads);
    routes.get(PATH + "/payload", RunPages::payload);
    routes.get(PATH + "/history", HistoryDownload::reply);
    new RunActions().register(routes);
  }

  static RunId id(PageRequest request) {
    String text = request.parameter("run");
    return RunId.parse(text)
        .orElseThrow(() -> Refusal.invalid("run", text, "the id of a run, which is a UUID"));
  }

  private PageReply show(PageRequest request) {
    RunModel model = model(request);
    boolean isSchedule =
        model.run().status() == RunStatus.SCHEDULED || model.run().status() == RunStatus.PAUSED;
    if (isSchedule) {
      return PageReply.redirect(
          request.links().to("/schedules/" + model.run().runId()), Flash.NONE);
    }
    return PageReply.page("run/page", request.frame(Nav.RUNS, title(model.run())), model);
  }

  private PageReply payloads(PageRequest request) {
    RunModel model = model(request);
    String title = "Payloads of " + title(model.run());
    return PageReply.page("run/payloads", request.frame(Nav.RUNS, title), model);
  }

  private static String title(RunView run) {
    return run.workflowType() + " " + Show.shortId(run.runId());
  }

  private static RunModel model(PageRequest request) {
    Queries queries = request.engine().queries();
    Links links = request.links();
    RunView run = queries.run(request.namespace(), id(request));
    StepLinks stepLinks = new StepLinks(links, run.runId());
    Page<StepView> page = steps(request, run);
    TimelineBuilder.Ends ends =
        new TimelineBuilder.Ends(page.prevToken().isEmpty(), !page.hasMore(), request.now());
    return new RunModel(
        run,
        run.status().isFinal()
            ? List.of()
            : queries.explain(request.namespace(), run.runId()).causes(),
        steps(request, page, stepLinks),
        new TimelineBuilder(run, stepLinks, page.items(), ends).build(),
        links,
        request.now(),
        live(request, run),
        run.status().isFinal() && !request.query(OPEN).isEmpty());
  }

  /** An open run shows its newest steps, because it is looked at for what happens now. */
  private static Page<StepView> steps(PageRequest request, RunView run) {
    String token = request.query(PAGE);
    boolean isNewest = token.equals(NEWEST) || (token.isEmpty() && !run.status().isFinal());
    boolean isWord = token.equals(FIRST) || token.equals(NEWEST);
    String name = request.query(STEP);
    return request
        .engine()
        .queries()
        .steps(
            request.namespace(),
            run.runId(),
            name.isEmpty() ? null : name,
            new PageSpec(STEPS_MAX, isWord ? "" : token, true, false, isNewest));
  }

  private static RunModel.Steps steps(
      PageRequest request, Page<StepView> page, StepLinks stepLinks) {
    List<StepRow> rows = new ArrayList<>();
    for (StepView step : page.items()) {
      rows.add(StepRow.listed(step, stepLinks, rows.size()));
    }
    String name = request.query(STEP);
    String path = request.path();
    return new RunModel.Steps(
        rows,
        Paging.of(request, page),
        page.totalCount(),
        name,
        page.prevToken().isEmpty() ? "" : request.links().to(path, STEP, name, PAGE, FIRST),
        page.hasMore() ? request.links().to(path, STEP, name, PAGE, NEWEST) : "");
  }

  /**
   * Names the attempt of the run, so that the page of a resumed run does not begin with the last
   * fragment of the attempt before, in which it had ended.
   */
  private static String live(PageRequest request, RunView run) {
    return request
        .links()
        .to(
            "/live/runs/" + run.runId(),
            STEP,
            request.query(STEP),
            PAGE,
            request.query(PAGE),
            OPEN,
            Integer.toString(run.attempts()));
  }

  private static PageReply step(PageRequest request) {
    Queries queries = request.engine().queries();
    RunView run = queries.run(request.namespace(), id(request));
    StepLinks links = new StepLinks(request.links(), run.runId());
    StepView step = findStep(request);
    String key = step.stepId().stepKey();
    List<StepRow> attempts =
        queries.steps(request.namespace(), run.runId(), key, PageSpec.FIRST).items().stream()
            .filter(each -> each.stepId().stepKey().equals(key))
            .map(each -> StepRow.listed(each, links, each.attemptNumber()))
            .toList();
    StepModel model =
        new StepModel(run, StepRow.whole(step, links), attempts, request.links(), request.now());
    return PageReply.page("run/step", request.frame(Nav.RUNS, key + " · " + title(run)), model);
  }

  private static StepView findStep(PageRequest request) {
    String attempt = request.query("attempt");
    int number;
    try {
      number = Integer.parseInt(attempt);
    } catch (NumberFormatException e) {
      throw Refusal.invalid("attempt", attempt, "a number from 1 up");
    }
    // The epoch of a ref is not compared when a step is read.
    StepRef ref = new StepRef(id(request), request.query("key"), number, 1);
    return request.engine().queries().step(request.namespace(), ref);
  }

  private static PageReply payload(PageRequest request) {
    String of = request.query("of");
    boolean isOfStep = !request.query("key").isEmpty();
    Payload payload = isOfStep ? ofStep(findStep(request), of) : ofRun(request, of);
    if (payload == null) {
      throw Refusal.notFound("payload", of);
    }
    return new PageReply.Download(
        of + "-" + id(request) + ".bin", "application/octet-stream", payload.data());
  }

  private static @Nullable Payload ofRun(PageRequest request, String of) {
    RunView run = request.engine().queries().run(request.namespace(), id(request));
    return switch (of) {
      case "input" -> run.input();
      case "output" -> run.output();
      default -> throw Refusal.invalid("of", of, "input or output");
    };
  }

  private static @Nullable Payload ofStep(StepView step, String of) {
    return switch (of) {
      case "input" -> step.input();
      case "output" -> step.output();
      case "progress" -> step.progress();
      default -> throw Refusal.invalid("of", of, "input, output or progress");
    };
  }
}
