package dev.kagzi.server.web.run;

import dev.kagzi.engine.query.RunView;
import dev.kagzi.engine.run.CallbackResult;
import dev.kagzi.engine.value.CallbackAnswer;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.server.web.page.Answers;
import dev.kagzi.server.web.page.Flash;
import dev.kagzi.server.web.page.JsonText;
import dev.kagzi.server.web.page.Nav;
import dev.kagzi.server.web.page.PageGroup;
import dev.kagzi.server.web.page.PageReply;
import dev.kagzi.server.web.page.PageRequest;
import dev.kagzi.server.web.page.PageRoutes;
import dev.kagzi.server.web.page.Problem;
import java.util.Map;
import java.util.Set;

/** The form that answers a callback in place of the outside system. */
final class CallbackPages implements PageGroup {
  private static final String PATH = "/runs/{run}/callback";
  private static final String KEY = "key";
  private static final String PAYLOAD = "payload";
  private static final String FAILURE = "failure";

  @Override
  public void register(PageRoutes routes) {
    routes.get(PATH, request -> page(PageReply.OK, request, request.query(KEY), Problem.NONE));
    routes.post(PATH, CallbackPages::answer);
  }

  private static PageReply answer(PageRequest request) {
    String key = request.form(KEY);
    try {
      request.engine().queries().requireCallback(request.namespace(), RunPages.id(request), key);
      CallbackResult result =
          Answers.await(
              request
                  .engine()
                  .runs()
                  .answerCallback(
                      request.namespace(), RunPages.id(request), key, answerOf(request)));
      return PageReply.redirect(
          request.links().run(RunPages.id(request)),
          result.repeated()
              ? Flash.error("Callback " + key + " was answered before; its first answer stays.")
              : Flash.done("Answered callback " + key + "."));
    } catch (Refusal refusal) {
      return page(PageReply.REFUSED, request, key, Problem.of(refusal));
    }
  }

  private static CallbackAnswer answerOf(PageRequest request) {
    String failure = request.form(FAILURE);
    return failure.isEmpty()
        ? new CallbackAnswer.Completed(JsonText.payload(PAYLOAD, request.form(PAYLOAD), Map.of()))
        : new CallbackAnswer.Failed(failure, "");
  }

  private static PageReply page(int status, PageRequest request, String key, Problem problem) {
    RunView run =
        request
            .engine()
            .queries()
            .runWithoutLargePayloads(request.namespace(), RunPages.id(request));
    if (problem.isEmpty()) {
      request.engine().queries().requireCallback(request.namespace(), run.runId(), key);
    }
    CallbackModel model =
        new CallbackModel(
            run,
            key,
            request.form(PAYLOAD),
            request.form(FAILURE),
            request
                .engine()
                .queries()
                .callbackAnswers(request.namespace(), run.runId(), Set.of(key), 0)
                .get(key),
            problem,
            request.links());
    return PageReply.page(
        status,
        "run/callback",
        request.frame(Nav.RUNS, "Callback of " + RunPages.title(run)),
        model);
  }
}
