package dev.kagzi.server.web.run;

import dev.kagzi.engine.run.CancelResult;
import dev.kagzi.engine.run.ResumeResult;
import dev.kagzi.engine.run.RetryResult;
import dev.kagzi.engine.run.Runs;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.server.web.page.Answers;
import dev.kagzi.server.web.page.Flash;
import dev.kagzi.server.web.page.PageGroup;
import dev.kagzi.server.web.page.PageHandler;
import dev.kagzi.server.web.page.PageReply;
import dev.kagzi.server.web.page.PageRequest;
import dev.kagzi.server.web.page.PageRoutes;
import dev.kagzi.server.web.page.Show;
import org.jspecify.annotations.Nullable;

/** Cancels, terminates, retries and resumes one run. A refusal is shown on the run's page. */
final class RunActions implements PageGroup {

  @Override
  public void register(PageRoutes routes) {
    action(routes, "cancel", RunActions::cancel);
    action(routes, "terminate", RunActions::terminate);
    action(routes, "retry", RunActions::retry);
    action(routes, "resume", RunActions::resume);
  }

  private static void action(PageRoutes routes, String name, PageHandler action) {
    routes.post("/runs/{run}/" + name, Answers.refusalsShown(action, RunActions::href));
  }

  private static String href(PageRequest request) {
    return request.links().run(RunPages.id(request));
  }

  private static PageReply back(PageRequest request, Flash flash) {
    return PageReply.redirect(href(request), flash);
  }

  private static PageReply cancel(PageRequest request) {
    CancelResult result =
        Answers.await(runs(request).cancel(request.namespace(), RunPages.id(request)));
    return back(
        request,
        result.cancelled()
            ? Flash.done(
                result.cleanUpUntil() == null
                    ? "The run is cancelled."
                    : "The run is cancelled: its code cleans up first.")
            : Flash.error("Not cancelled: the run is " + Show.words(result.status()) + "."));
  }

  private static PageReply terminate(PageRequest request) {
    String reason = request.form("reason");
    CancelResult result =
        Answers.await(
            runs(request)
                .terminate(
                    request.namespace(),
                    RunPages.id(request),
                    reason.isEmpty() ? "terminated from the dashboard" : reason));
    return back(
        request,
        result.cancelled()
            ? Flash.done("The run is terminated.")
            : Flash.error("Not terminated: the run is " + Show.words(result.status()) + "."));
  }

  private static PageReply retry(PageRequest request) {
    String newRun = request.form("new_run");
    RunId newId =
        newRun.isEmpty()
            ? null
            : RunId.parse(newRun).orElseThrow(() -> Refusal.invalid("new_run", newRun, "a UUID"));
    RetryResult result =
        Answers.await(runs(request).retry(request.namespace(), RunPages.id(request), newId, null));
    return PageReply.redirect(
        request.links().run(result.runId()),
        result.alreadyRunning()
            ? Flash.error("Not retried: this run is active.")
            : Flash.done("This new run retries run " + RunPages.id(request) + "."));
  }

  private static PageReply resume(PageRequest request) {
    String attempt = request.form("attempt");
    boolean isForced = request.form("force").equals("true");
    ResumeResult result =
        Answers.await(
            runs(request)
                .resume(request.namespace(), RunPages.id(request), attempt(attempt), isForced));
    return back(
        request,
        result.resumed()
            ? Flash.done("The run continues where it stopped.")
            : Flash.error("Not resumed: the run is " + Show.words(result.status()) + "."));
  }

  private static @Nullable Integer attempt(String text) {
    try {
      return text.isEmpty() ? null : Integer.valueOf(text);
    } catch (NumberFormatException e) {
      throw Refusal.invalid("attempt", text, "the number of the run's attempt");
    }
  }

  private static Runs runs(PageRequest request) {
    return request.engine().runs();
  }
}
