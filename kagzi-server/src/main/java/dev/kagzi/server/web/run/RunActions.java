package dev.kagzi.server.web.run;

import dev.kagzi.engine.run.CancelResult;
import dev.kagzi.engine.run.ResumeResult;
import dev.kagzi.engine.run.RetryResult;
import dev.kagzi.engine.run.Runs;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.server.web.page.Flash;
import dev.kagzi.server.web.page.PageGroup;
import dev.kagzi.server.web.page.PageHandler;
import dev.kagzi.server.web.page.PageReply;
import dev.kagzi.server.web.page.PageRequest;
import dev.kagzi.server.web.page.PageRoutes;
import dev.kagzi.server.web.page.Show;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** Cancels, terminates, retries and resumes one run. A refusal is shown on the run's page. */
final class RunActions implements PageGroup {

  @Override
  public void register(PageRoutes routes) {
    routes.post("/runs/{run}/cancel", refusalsShown(RunActions::cancel));
    routes.post("/runs/{run}/terminate", refusalsShown(RunActions::terminate));
    routes.post("/runs/{run}/retry", refusalsShown(RunActions::retry));
    routes.post("/runs/{run}/resume", refusalsShown(RunActions::resume));
  }

  private static PageHandler refusalsShown(PageHandler action) {
    return request -> {
      try {
        return action.handle(request);
      } catch (Refusal refusal) {
        return back(request, Flash.error(String.valueOf(refusal.getMessage())));
      }
    };
  }

  private static PageReply back(PageRequest request, Flash flash) {
    return PageReply.redirect(request.links().run(RunPages.id(request)), flash);
  }

  private static PageReply cancel(PageRequest request) {
    CancelResult result = await(runs(request).cancel(request.namespace(), RunPages.id(request)));
    return back(
        request,
        result.cancelled()
            ? Flash.done("The run is cancelled.")
            : Flash.error("Not cancelled: the run is " + Show.words(result.status()) + "."));
  }

  private static PageReply terminate(PageRequest request) {
    String reason = request.form("reason");
    CancelResult result =
        await(
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
        await(runs(request).retry(request.namespace(), RunPages.id(request), newId, null));
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
        await(
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

  private static <T> T await(CompletableFuture<T> result) {
    try {
      return result.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof Refusal refusal) {
        throw refusal;
      }
      throw e;
    }
  }
}
