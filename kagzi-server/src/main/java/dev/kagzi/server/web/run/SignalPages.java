package dev.kagzi.server.web.run;

import dev.kagzi.engine.page.Page;
import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.query.RunView;
import dev.kagzi.engine.query.SignalView;
import dev.kagzi.engine.query.StepView;
import dev.kagzi.engine.run.SignalResult;
import dev.kagzi.engine.value.CallbackAnswer;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.StepStatus;
import dev.kagzi.server.web.page.Answers;
import dev.kagzi.server.web.page.Flash;
import dev.kagzi.server.web.page.Frame;
import dev.kagzi.server.web.page.Nav;
import dev.kagzi.server.web.page.PageGroup;
import dev.kagzi.server.web.page.PageReply;
import dev.kagzi.server.web.page.PageRequest;
import dev.kagzi.server.web.page.PageRoutes;
import dev.kagzi.server.web.page.Paging;
import dev.kagzi.server.web.page.Problem;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** The signals of a run, one signal, and the form that sends one. */
final class SignalPages implements PageGroup {
  private static final int SIGNALS_MAX = 50;
  private static final String PATH = "/runs/{run}/signals";
  private static final String NUMBER = "number";

  @Override
  public void register(PageRoutes routes) {
    routes.get(PATH, SignalPages::show);
    routes.post(PATH, SignalPages::send);
    routes.get("/runs/{run}/signal", SignalPages::one);
    routes.get("/runs/{run}/signal/payload", SignalPages::payload);
  }

  private static PageReply show(PageRequest request) {
    RunView run = run(request);
    Set<String> awaited = awaited(request, run);
    SignalForm form = SignalForm.empty(awaited.size() == 1 ? awaited.iterator().next() : "");
    return page(PageReply.OK, request, run, awaited, form, Problem.NONE);
  }

  private static PageReply send(PageRequest request) {
    SignalForm form = SignalForm.sent(request);
    try {
      SignalResult result =
          Answers.await(
              request
                  .engine()
                  .runs()
                  .signal(request.namespace(), RunPages.id(request), form.request()));
      return PageReply.redirect(
          request.links().run(RunPages.id(request)),
          Flash.done(
              result.known()
                  ? "This signal was sent before."
                  : "Sent signal " + form.name() + "."));
    } catch (Refusal refusal) {
      RunView run = run(request);
      return page(
          PageReply.REFUSED, request, run, awaited(request, run), form, Problem.of(refusal));
    }
  }

  private static PageReply page(
      int status,
      PageRequest request,
      RunView run,
      Set<String> awaited,
      SignalForm form,
      Problem problem) {
    Frame frame = request.frame(Nav.RUNS, "Signals of " + RunPages.title(run));
    StepLinks links = new StepLinks(request.links(), run.runId());
    Page<SignalView> page =
        request
            .engine()
            .queries()
            .signals(
                request.namespace(),
                run.runId(),
                false,
                new PageSpec(SIGNALS_MAX, request.query("page"), true, false));
    SignalsModel model =
        new SignalsModel(
            run,
            rows(run, page, links),
            page.totalCount(),
            Paging.of(request, page),
            awaited,
            form,
            problem,
            request.links(),
            request.now());
    return PageReply.page(status, "run/signals", frame, model);
  }

  static List<SignalRow> rows(RunView run, Page<SignalView> page, StepLinks links) {
    return page.items().stream().map(signal -> SignalRow.listed(run, signal, links)).toList();
  }

  /** Returns the names that the newest steps of an open run wait for, without callbacks. */
  private static Set<String> awaited(PageRequest request, RunView run) {
    return run.status().isFinal()
        ? Set.of()
        : request
            .engine()
            .queries()
            .steps(
                request.namespace(),
                run.runId(),
                null,
                new PageSpec(SIGNALS_MAX, "", false, false, true))
            .items()
            .stream()
            .filter(SignalPages::isAwaiting)
            .map(StepView::name)
            .filter(name -> !CallbackAnswer.isSignalName(name))
            .collect(Collectors.toSet());
  }

  static boolean isAwaiting(StepView step) {
    return step.kind() == StepKind.SIGNAL && step.status() == StepStatus.RUNNING;
  }

  private static RunView run(PageRequest request) {
    return request
        .engine()
        .queries()
        .runWithoutLargePayloads(request.namespace(), RunPages.id(request));
  }

  private static SignalView find(PageRequest request) {
    String text = request.query(NUMBER);
    try {
      return request
          .engine()
          .queries()
          .signal(request.namespace(), RunPages.id(request), Integer.parseInt(text));
    } catch (NumberFormatException e) {
      throw Refusal.invalid(NUMBER, text, "the number of a signal, from 1 up");
    }
  }

  private static PageReply one(PageRequest request) {
    RunView run = run(request);
    SignalRow row =
        SignalRow.whole(run, find(request), new StepLinks(request.links(), run.runId()));
    Frame frame =
        request.frame(Nav.RUNS, "Signal " + row.signal().name() + " · " + RunPages.title(run));
    return PageReply.page(
        "run/signal", frame, new SignalModel(run, row, request.links(), request.now()));
  }

  private static PageReply payload(PageRequest request) {
    SignalView signal = find(request);
    return new PageReply.Download(
        "signal-" + signal.number() + "-" + RunPages.id(request) + ".bin",
        "application/octet-stream",
        signal.payload().data());
  }
}
