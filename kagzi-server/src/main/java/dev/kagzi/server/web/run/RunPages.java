package dev.kagzi.server.web.run;

import dev.kagzi.engine.page.Page;
import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.query.CallbackView;
import dev.kagzi.engine.query.PublishedView;
import dev.kagzi.engine.query.Queries;
import dev.kagzi.engine.query.RunCount;
import dev.kagzi.engine.query.RunFilter;
import dev.kagzi.engine.query.RunPlace;
import dev.kagzi.engine.query.RunView;
import dev.kagzi.engine.query.SignalView;
import dev.kagzi.engine.query.StepView;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
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
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** One run: its facts, time line, steps and payloads, and what can be done with it. */
public final class RunPages implements PageGroup {
  private static final int STEPS_MAX = 50;
  private static final int SIGNALS_MAX = 10;
  private static final int CHILDREN_MAX = 100;

  /** The step's own page shows larger answers of callbacks. */
  private static final int ANSWER_BYTES_MAX = 4_096;

  private static final String PATH = "/runs/{run}";
  private static final String PAGE = "page";
  private static final String FIRST = "first";
  private static final String NEWEST = "newest";
  private static final String STEP = "step";
  private static final String OPEN = "open";

  @Override
  public void register(PageRoutes routes) {
    routes.get(PATH, this::show);
    routes.live(PATH, RunPages::progress);
    routes.get(PATH + "/step", RunPages::step);
    routes.get(PATH + "/payloads", this::payloads);
    routes.get(PATH + "/payload", RunPages::payload);
    routes.get(PATH + "/history", HistoryDownload::reply);
    new RunActions().register(routes);
    new SignalPages().register(routes);
    new CallbackPages().register(routes);
  }

  static RunId id(PageRequest request) {
    String text = request.parameter("run");
    return RunId.parse(text)
        .orElseThrow(() -> Refusal.invalid("run", text, "the id of a run, which is a UUID"));
  }

  private static RunView run(PageRequest request) {
    return request.engine().queries().run(request.namespace(), id(request));
  }

  /** The fragment shows neither input nor output, so large ones are not read again and again. */
  private static PageReply progress(PageRequest request) {
    RunView run =
        request.engine().queries().runWithoutLargePayloads(request.namespace(), id(request));
    return PageReply.fragment("run/progress", model(request, run));
  }

  private PageReply show(PageRequest request) {
    RunView run;
    try {
      run = run(request);
    } catch (Refusal refusal) {
      return elsewhere(request, refusal);
    }
    RunModel model = model(request, run);
    boolean isSchedule =
        model.run().status() == RunStatus.SCHEDULED || model.run().status() == RunStatus.PAUSED;
    if (isSchedule) {
      return PageReply.redirect(
          request.links().to("/schedules/" + model.run().runId()), Flash.NONE);
    }
    return PageReply.page("run/page", request.frame(Nav.RUNS, title(model.run())), model);
  }

  /**
   * A run of another namespace is not shown, but linked: the link that led here may be old or
   * incomplete.
   */
  private static PageReply elsewhere(PageRequest request, Refusal refusal) {
    List<RunPlace> places =
        refusal.reason() == Refusal.Reason.NOT_FOUND
            ? request.engine().queries().find(request.namespace(), id(request).toString())
            : List.of();
    if (places.isEmpty()) {
      throw refusal;
    }
    MissingModel model =
        new MissingModel(String.valueOf(refusal.getMessage()), places, request.now());
    return PageReply.page(
        PageReply.NOT_FOUND, "run/missing", request.frame(Nav.RUNS, "Run"), model);
  }

  private PageReply payloads(PageRequest request) {
    RunModel model = model(request, run(request));
    String title = "Payloads of " + title(model.run());
    return PageReply.page("run/payloads", request.frame(Nav.RUNS, title), model);
  }

  static String title(RunView run) {
    return Show.title(run);
  }

  private static RunModel model(PageRequest request, RunView run) {
    Queries queries = request.engine().queries();
    Links links = request.links();
    StepLinks stepLinks = new StepLinks(links, run.runId());
    Page<StepView> page = steps(request, run);
    TimelineBuilder.Ends ends =
        new TimelineBuilder.Ends(page.prevToken().isEmpty(), !page.hasMore(), request.now());
    return new RunModel(
        run,
        run.status().isFinal()
            ? List.of()
            : queries.explain(request.namespace(), run.runId()).causes(),
        queries.published(request.namespace(), run.runId(), "", 0).values(),
        children(request, run),
        run.status().isFinal() ? queries.retries(request.namespace(), run.runId()) : List.of(),
        steps(request, run, page, stepLinks),
        signals(request, run, stepLinks),
        new TimelineBuilder(run, stepLinks, page.items(), ends).build(),
        links,
        request.now(),
        live(request, run),
        run.status().isFinal() && !request.query(OPEN).isEmpty());
  }

  private static RunCount children(PageRequest request, RunView run) {
    RunFilter filter = RunFilter.ofParent(request.namespace(), run.runId());
    int found = request.engine().queries().runIds(filter, CHILDREN_MAX + 1).size();
    return new RunCount(Math.min(found, CHILDREN_MAX), found <= CHILDREN_MAX);
  }

  /** An open run shows its newest steps, because users open its page to see what happens now. */
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
      PageRequest request, RunView run, Page<StepView> page, StepLinks stepLinks) {
    Map<String, CallbackView> answers =
        answers(request, stepLinks.run(), page.items(), ANSWER_BYTES_MAX);
    List<StepRow> rows = new ArrayList<>();
    for (StepView step : page.items()) {
      StepRow row = StepRow.listed(run, step, stepLinks, rows.size());
      CallbackView answer = answers.get(step.stepId().stepKey());
      rows.add(answer == null ? row : row.listedAnswer(answer, stepLinks, rows.size()));
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

  private static Map<String, CallbackView> answers(
      PageRequest request, RunId run, List<StepView> steps, int bytesMax) {
    Set<String> callbacks =
        steps.stream()
            .filter(step -> step.kind() == StepKind.CALLBACK)
            .map(step -> step.stepId().stepKey())
            .collect(Collectors.toUnmodifiableSet());
    return request
        .engine()
        .queries()
        .callbackAnswers(request.namespace(), run, callbacks, bytesMax);
  }

  private static RunModel.Signals signals(PageRequest request, RunView run, StepLinks links) {
    Page<SignalView> newest =
        request
            .engine()
            .queries()
            .signals(
                request.namespace(),
                run.runId(),
                false,
                new PageSpec(SIGNALS_MAX, "", true, false, true));
    return new RunModel.Signals(SignalPages.rows(run, newest, links), newest.totalCount());
  }

  /**
   * The link contains the attempt of the run, so that the page of a resumed run does not begin with
   * the last fragment of the previous attempt, in which the run had ended.
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
    RunView run = run(request);
    StepLinks links = new StepLinks(request.links(), run.runId());
    StepView step = findStep(request);
    String key = step.stepId().stepKey();
    List<StepRow> attempts =
        queries.steps(request.namespace(), run.runId(), key, PageSpec.FIRST).items().stream()
            .filter(each -> each.stepId().stepKey().equals(key))
            .map(each -> StepRow.listed(run, each, links, each.attemptNumber()))
            .toList();
    CallbackView answer = answer(request, step);
    StepRow row = StepRow.whole(run, step, links);
    StepModel model =
        new StepModel(
            run,
            answer == null ? row : row.wholeAnswer(answer, links),
            attempts,
            request.links(),
            request.now());
    return PageReply.page("run/step", request.frame(Nav.RUNS, key + " · " + title(run)), model);
  }

  private static @Nullable CallbackView answer(PageRequest request, StepView step) {
    return answers(request, id(request), List.of(step), Integer.MAX_VALUE)
        .get(step.stepId().stepKey());
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
    Payload payload = isOfStep ? ofStep(request, findStep(request), of) : ofRun(request, of);
    if (payload == null) {
      throw Refusal.notFound("payload", of);
    }
    return new PageReply.Download(
        of + "-" + id(request) + ".bin", "application/octet-stream", payload.data());
  }

  private static @Nullable Payload ofRun(PageRequest request, String of) {
    RunView run = run(request);
    return switch (of) {
      case "input" -> run.input();
      case "output" -> run.output();
      case "published" -> published(request, run);
      default -> throw Refusal.invalid("of", of, "input, output or published");
    };
  }

  private static @Nullable Payload published(PageRequest request, RunView run) {
    String name = request.query("name");
    return request
        .engine()
        .queries()
        .published(request.namespace(), run.runId(), name, 0)
        .values()
        .stream()
        .filter(value -> value.name().equals(name))
        .map(PublishedView.Value::payload)
        .findFirst()
        .orElse(null);
  }

  private static @Nullable Payload ofStep(PageRequest request, StepView step, String of) {
    return switch (of) {
      case "input" -> step.input();
      case "output" -> step.output();
      case "progress" -> step.progress();
      case "answer" -> {
        CallbackView answer = answer(request, step);
        yield answer == null || answer.failed() ? null : answer.payload();
      }
      default -> throw Refusal.invalid("of", of, "input, output, progress or answer");
    };
  }
}
